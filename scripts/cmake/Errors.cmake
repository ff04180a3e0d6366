# The table of all errors (scripts/cmake/error_table.py), written to `output` and made anew where a sentence changes.
#
# fovea_error_table(OUTPUT folder FILES error_table.inc errors_de.ts TRANSLATIONS errors_de.json)
find_package(Python3 REQUIRED COMPONENTS Interpreter)

function(fovea_error_table)
  cmake_parse_arguments(T "" "OUTPUT" "FILES;TRANSLATIONS" ${ARGN})
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/engine/errors.h ${CMAKE_SOURCE_DIR}/app/errors.h
    ${CMAKE_SOURCE_DIR}/ui/errors.h)
  list(TRANSFORM T_FILES PREPEND ${T_OUTPUT}/)
  set(script ${CMAKE_SOURCE_DIR}/scripts/cmake/error_table.py)
  add_custom_command(OUTPUT ${T_FILES}
    COMMAND ${Python3_EXECUTABLE} ${script} ${CMAKE_SOURCE_DIR} ${T_OUTPUT} ${T_TRANSLATIONS}
    DEPENDS ${script} ${headers} ${T_TRANSLATIONS}
    COMMENT "Collecting the errors' sentences" VERBATIM)
endfunction()
