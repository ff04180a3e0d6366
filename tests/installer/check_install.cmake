# Installs BUILD into PREFIX and looks at what is there.
file(REMOVE_RECURSE ${PREFIX})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${PREFIX}
                OUTPUT_QUIET ERROR_VARIABLE error RESULT_VARIABLE code)
if(code)
  message(FATAL_ERROR "the installation failed: ${error}")
endif()

foreach(path bin/fovea share/applications/org.fovea.Fovea.desktop share/mime/packages/org.fovea.Fovea.xml
             share/metainfo/org.fovea.Fovea.metainfo.xml share/icons/hicolor/scalable/apps/org.fovea.Fovea.svg
             share/icons/hicolor/128x128/apps/org.fovea.Fovea.png share/man/man1/fovea.1.gz
             share/bash-completion/completions/fovea share/zsh/vendor-completions/_fovea
             share/fish/vendor_completions.d/fovea.fish)
  if(NOT EXISTS ${PREFIX}/${path})
    message(SEND_ERROR "${path} was not installed")
  endif()
endforeach()

# run(WHAT COMMAND…): the command must succeed; its output is in `output`.
function(run what)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE error RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(SEND_ERROR "${what}: ${code}\n${output}${error}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run("the desktop entry" desktop-file-validate ${PREFIX}/share/applications/org.fovea.Fovea.desktop)
run("the AppStream metadata" appstreamcli validate --no-net ${PREFIX}/share/metainfo/org.fovea.Fovea.metainfo.xml)
run("the program" ${PREFIX}/bin/fovea --version)

# The manual names every command, and completion offers it.
run("the help" ${PREFIX}/bin/fovea --help)
string(REGEX REPLACE ".*\nSubcommands:\n" "" commands "${output}")
string(REGEX REPLACE "\n\n.*" "\n" commands "${commands}")
string(REGEX MATCHALL "\n  [a-z-]+ " commands "\n${commands}")
list(LENGTH commands count)
if(count LESS 10)
  message(SEND_ERROR "the help names ${count} commands")
endif()
run("the manual" gzip -dc ${PREFIX}/share/man/man1/fovea.1.gz)
string(REPLACE "\\-" "-" manual "${output}")
run("completion" ${CMAKE_COMMAND} -E env PATH=${PREFIX}/bin:$ENV{PATH} FOVEA_DATA=/nonexistent
    bash ${CMAKE_CURRENT_LIST_DIR}/complete.bash ${PREFIX}/share/bash-completion/completions/fovea)
foreach(command IN LISTS commands)
  string(STRIP "${command}" command)
  if(NOT manual MATCHES "\n\\.B ${command}\n")
    message(SEND_ERROR "the manual does not name ${command}")
  endif()
  if(NOT output MATCHES "(^|\n)${command}\n")
    message(SEND_ERROR "completion does not offer ${command}")
  endif()
endforeach()
