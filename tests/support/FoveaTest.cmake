# fovea_test(kernels/cpu SOURCES matmul_test.cpp … MODULES kernels/cpu kernels/reference [LIBRARIES …] [LABELS slow])
# builds test_kernels_cpu from Qt Test classes registered with FOVEA_TEST (tests/support/test.h).
# Tests see the modules they name, FOVEA_SHARED_DIR and FOVEA_TEST_DATA (this folder's committed data).
function(fovea_test folder)
  cmake_parse_arguments(T "" "TIMEOUT" "SOURCES;MODULES;LIBRARIES;LABELS" ${ARGN})
  string(REPLACE "/" "_" name test_${folder})
  add_executable(${name} ${T_SOURCES})
  set_target_properties(${name} PROPERTIES AUTOMOC ON)
  target_link_libraries(${name} PRIVATE fovea_flags fovea_tests_support Qt6::Test ${T_LIBRARIES})
  foreach(module ${T_MODULES})
    fovea_target_name(${module} target)
    target_link_libraries(${name} PRIVATE ${target})
  endforeach()
  target_compile_definitions(${name} PRIVATE
    FOVEA_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    FOVEA_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_test(NAME ${folder} COMMAND ${name})
  if(NOT T_LABELS)
    set(T_LABELS fast)
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 600)
  endif()
  set_tests_properties(${folder} PROPERTIES LABELS "${T_LABELS}" TIMEOUT ${T_TIMEOUT}
    ENVIRONMENT "QT_QPA_PLATFORM=offscreen")
endfunction()
