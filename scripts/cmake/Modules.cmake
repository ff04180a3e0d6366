# One target for each folder, and a folder sees only the headers of the folders it names.
#
# fovea_module(kernels/cpu
#   SOURCES a.cpp b.cpp
#   PUBLIC kernels/api          # folders whose headers this folder's own headers include
#   PRIVATE kernels/formats     # folders whose headers only its sources include
#   LIBRARIES PkgConfig::PCRE2  # outside packages
#   APART b.cpp)                # sources that name something as another source of the folder does
#
# With FOVEA_UNITY the compiler gets up to twelve of a folder's sources at a time, which nearly halves the time that they
# take from scratch: what they include is read once. Sources that are APART go by themselves. Not so in kernels/, whose
# sources include little and are compiled for several instruction sets.
#
# Headers are included by their path from the top ("kernels/cpu/pool.h"). Each target exports a
# directory that holds nothing but a link to its own folder, so a folder that was not named cannot
# be found by the compiler. The same facts are written to modules.txt for the include check.
function(fovea_target_name folder out)
  string(REPLACE "/" "_" name ${folder})
  set(${out} fovea_${name} PARENT_SCOPE)
endfunction()

function(fovea_module folder)
  cmake_parse_arguments(M "" "" "SOURCES;PUBLIC;PRIVATE;LIBRARIES;APART" ${ARGN})
  fovea_target_name(${folder} target)
  set(view ${CMAKE_BINARY_DIR}/include/${target})
  get_filename_component(parent ${folder} DIRECTORY)
  file(MAKE_DIRECTORY ${view}/${parent})
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/${folder} ${view}/${folder} SYMBOLIC)

  if(M_SOURCES)
    add_library(${target} STATIC ${M_SOURCES})
    set(reach PUBLIC)
    target_link_libraries(${target} PRIVATE fovea_flags PUBLIC Threads::Threads)
    if(FOVEA_UNITY AND NOT folder MATCHES "^(tests/)?kernels/")
      set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
      set_source_files_properties(${M_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
    # No fuzzer looks for its way through numbers.
    if(FOVEA_FUZZ AND NOT folder MATCHES "^(tests/)?kernels/")
      target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
    # Under the address sanitizer half of a build is optimising, which pays where tests and fuzzers compute for long.
    if(FOVEA_SANITIZE MATCHES address AND NOT folder MATCHES "^(kernels|engine/(jinja|precision|text)|tests)(/|$)")
      target_compile_options(${target} PRIVATE -O0)
    endif()
  else()
    add_library(${target} INTERFACE)
    set(reach INTERFACE)
  endif()
  target_include_directories(${target} ${reach} ${view})
  foreach(dependency ${M_PUBLIC})
    fovea_target_name(${dependency} name)
    target_link_libraries(${target} ${reach} ${name})
  endforeach()
  foreach(dependency ${M_PRIVATE})
    fovea_target_name(${dependency} name)
    target_link_libraries(${target} PRIVATE ${name})
  endforeach()
  if(M_LIBRARIES)
    target_link_libraries(${target} ${reach} ${M_LIBRARIES})
  endif()
  list(JOIN M_PUBLIC " " public)
  list(JOIN M_PRIVATE " " private)
  set_property(GLOBAL APPEND PROPERTY FOVEA_MODULES "${folder}: ${folder} ${public} ${private}")
endfunction()

# In ../lib, where a bundle has them (scripts/first_card), also for libraries that want others, and in front of the
# system's; whoever starts the program need not tell, and tools that start it keep their own.
function(fovea_look_for_libraries_beside target)
  set_target_properties(${target} PROPERTIES BUILD_RPATH "$ORIGIN/../lib")
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
endfunction()

function(fovea_write_module_map)
  get_property(lines GLOBAL PROPERTY FOVEA_MODULES)
  list(JOIN lines "\n" text)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/modules.txt CONTENT "${text}\n" @ONLY)
endfunction()
