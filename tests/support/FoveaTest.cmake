# The thread sanitizer takes QProcess, which some tests start programs with, for a fork that goes on.
set(fovea_test_environment "QT_QPA_PLATFORM=offscreen" "HF_HUB_CACHE=${CMAKE_BINARY_DIR}/no-hub-cache" "LC_ALL=C.UTF-8" "LANGUAGE="
  "FOVEA_TEST_FONT=DejaVu Sans"
  "TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/support/tsan.supp:die_after_fork=0")

# The labels sanitized and sanitized_kernels have targets that build their tests: fovea_sanitized_tests and
# fovea_sanitized_kernels_tests.
macro(fovea_sanitized_test name label)
  list(APPEND T_LABELS ${label})
  if(NOT TARGET fovea_${label}_tests)
    add_custom_target(fovea_${label}_tests)
  endif()
  add_dependencies(fovea_${label}_tests ${name})
endmacro()

# Quicker to build, by up to a quarter; without any optimisation some tests run twice as long.
set(fovea_test_options $<$<CONFIG:Release>:-O1>)

# moc without the folders of headers: it takes 5 ms instead of 100 to 300, and misses no more than types declared in
# headers that are arguments of a signal, which no test class has.
get_target_property(moc Qt6::moc IMPORTED_LOCATION)
set(fovea_tests_moc ${CMAKE_BINARY_DIR}/tests_moc)
file(CONFIGURE OUTPUT ${fovea_tests_moc} @ONLY CONTENT "#!/bin/sh
for a do shift; case $a in -I*) ;; *) set -- \"$@\" \"$a\" ;; esac; done
exec '${moc}' \"$@\"
")
file(CHMOD ${fovea_tests_moc} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)

# The tests of a folder once more, as folder/name, with these environment variables.
function(fovea_test_again folder name)
  string(REPLACE "/" "_" program test_${folder})
  add_test(NAME ${folder}/${name} COMMAND ${program})
  set_tests_properties(${folder}/${name} PROPERTIES LABELS fast TIMEOUT 1800
    ENVIRONMENT "${fovea_test_environment};${ARGN}")
  get_test_property(${folder} FIXTURES_REQUIRED fixtures)
  if(fixtures)
    set_tests_properties(${folder}/${name} PROPERTIES FIXTURES_REQUIRED "${fixtures}")
  endif()
endfunction()

# fovea_test(kernels/cpu SOURCES matmul_test.cpp … MODULES kernels/cpu kernels/reference [LIBRARIES …] [LABELS slow]
#            [SLOW HugeTest …] [APART b_test.cpp …] [GUI [FONTS]])
# builds test_kernels_cpu from Qt Test classes registered with FOVEA_TEST (tests/support/test.h).
# Tests see the modules they name. The classes of SLOW run as a CTest entry of their own, kernels/cpu/slow. GUI gives
# them a QApplication, on the offscreen platform under CTest; with FONTS they run once more with another font, as
# ui/chat/noto. With FOVEA_UNITY the compiler gets four sources at a time, which more than halves what they take; those
# APART, whose names another one has too, go by themselves. DEMO: tests::demo_model() is made before.
function(fovea_test folder)
  cmake_parse_arguments(T "GUI;FONTS;DEMO" "TIMEOUT" "SOURCES;MODULES;LIBRARIES;LABELS;SLOW;APART" ${ARGN})
  string(REPLACE "/" "_" name test_${folder})
  set(main fovea_tests_main)
  if(T_GUI)
    set(main fovea_tests_gui_main)
  endif()
  add_executable(${name} ${T_SOURCES})
  fovea_precompile_headers(${name} REUSE_FROM ${main})
  set_target_properties(${name} PROPERTIES AUTOMOC ON AUTOMOC_EXECUTABLE ${fovea_tests_moc})
  # What AUTOMOC compiles by itself is empty where no header has a Q_OBJECT.
  set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/${name}_autogen/mocs_compilation.cpp PROPERTIES
    SKIP_PRECOMPILE_HEADERS ON)
  if(FOVEA_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
    set_source_files_properties(${T_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    # GCC takes each of the sources for a header, whose classes had better have no members of local types.
    target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
  target_compile_options(${name} PRIVATE ${fovea_test_options})
  target_link_libraries(${name} PRIVATE fovea_flags ${main} ${T_LIBRARIES})
  foreach(module ${T_MODULES})
    fovea_target_name(${module} target)
    target_link_libraries(${name} PRIVATE ${target})
  endforeach()
  target_compile_definitions(${name} PRIVATE
    FOVEA_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    FOVEA_BINARY_DIR="${CMAKE_BINARY_DIR}")
  set(without ${T_SLOW})
  list(TRANSFORM without PREPEND -)
  add_test(NAME ${folder} COMMAND ${name} ${without})
  if(NOT T_LABELS)
    set(T_LABELS fast)
  endif()
  # In a sanitizer build: the tests of what reads files or moves versions, and, apart because they take minutes, those of the kernels.
  if(FOVEA_SANITIZE AND folder MATCHES "^engine/(core|checkpoint|precision|text)")
    fovea_sanitized_test(${name} sanitized)
  elseif(FOVEA_SANITIZE AND folder MATCHES "^kernels/")
    fovea_sanitized_test(${name} sanitized_kernels)
  endif()
  # A test that hangs is ended by Qt Test (test.cpp), 25 minutes into it; this is for the whole executable, which
  # scripts/test --full keeps busy for longer.
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 1800)
  endif()
  set_tests_properties(${folder} PROPERTIES LABELS "${T_LABELS}" TIMEOUT ${T_TIMEOUT}
    ENVIRONMENT "${fovea_test_environment}")
  if(T_DEMO)
    set_tests_properties(${folder} PROPERTIES FIXTURES_REQUIRED short_demo)
  endif()
  if(T_FONTS)
    fovea_test_again(${folder} noto "FOVEA_TEST_FONT=Noto Sans")
  endif()
  if(T_SLOW)
    list(TRANSFORM T_LABELS REPLACE "^fast$" slow)
    add_test(NAME ${folder}/slow COMMAND ${name} ${T_SLOW})
    # What takes longest begins first.
    set_tests_properties(${folder}/slow PROPERTIES LABELS "${T_LABELS}" TIMEOUT ${T_TIMEOUT} COST 100
      ENVIRONMENT "${fovea_test_environment}")
    if(T_DEMO)
      set_tests_properties(${folder}/slow PROPERTIES FIXTURES_REQUIRED short_demo)
    endif()
  endif()
endfunction()
