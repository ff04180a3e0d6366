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

# Besides the processor's best, which is the default.
set(fovea_instruction_sets scalar avx2)

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

# One entry of CTest, with what all have. DEMO: tests::demo_model() is made before. A test that hangs is ended by Qt Test
# (test.cpp), 25 minutes into it; the limit is for the whole executable, which scripts/test --full keeps busy for longer.
function(fovea_test_entry entry)
  cmake_parse_arguments(E "DEMO" "TIMEOUT" "COMMAND;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT E_TIMEOUT)
    set(E_TIMEOUT 1800)
  endif()
  add_test(NAME ${entry} COMMAND ${E_COMMAND})
  set_tests_properties(${entry} PROPERTIES LABELS "${E_LABELS}" TIMEOUT ${E_TIMEOUT}
    ENVIRONMENT "${fovea_test_environment};${E_ENVIRONMENT}")
  if(E_DEMO)
    set_tests_properties(${entry} PROPERTIES FIXTURES_REQUIRED short_demo)
  endif()
endfunction()

# fovea_test(kernels/cpu SOURCES matmul_test.cpp … MODULES kernels/cpu kernels/reference [LIBRARIES …] [LABELS slow]
#            [SLOW HugeTest …] [EACH_SET MatmulTest … [NOT_SCALAR LongTest …]] [APART b_test.cpp …] [DEMO] [GUI [FONTS]])
# builds test_kernels_cpu from Qt Test classes registered with FOVEA_TEST (tests/support/test.h).
# Tests see the modules they name. The classes of SLOW run as a CTest entry of their own, kernels/cpu/slow. Those of
# EACH_SET, whose results can depend on the processor's instruction set, run once more under each of
# ${fovea_instruction_sets}: kernels/cpu/scalar, without those of NOT_SCALAR, which would take too long there. Those that
# go through all sets by themselves do not belong in it. GUI gives them a QApplication, on the offscreen platform under
# CTest; with FONTS they run once more with another font, as ui/chat/noto. DEMO: tests::demo_model() is made before. With
# FOVEA_UNITY the compiler gets four sources at a time, which more than halves what they take; those APART, whose names
# another one has too, go by themselves.
function(fovea_test folder)
  cmake_parse_arguments(T "GUI;FONTS;DEMO" "TIMEOUT" "SOURCES;MODULES;LIBRARIES;LABELS;SLOW;EACH_SET;NOT_SCALAR;APART" ${ARGN})
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
  if(NOT T_LABELS)
    set(T_LABELS fast)
  endif()
  # In a sanitizer build: the tests of what reads files or moves versions, and, apart because they take minutes, those of the kernels.
  if(FOVEA_SANITIZE AND folder MATCHES "^engine/(core|checkpoint|grammar|precision|text)")
    fovea_sanitized_test(${name} sanitized)
  elseif(FOVEA_SANITIZE AND folder MATCHES "^kernels/")
    fovea_sanitized_test(${name} sanitized_kernels)
  endif()
  set(common)
  if(T_TIMEOUT)
    list(APPEND common TIMEOUT ${T_TIMEOUT})
  endif()
  if(T_DEMO)
    list(APPEND common DEMO)
  endif()
  set(without ${T_SLOW})
  list(TRANSFORM without PREPEND -)
  fovea_test_entry(${folder} COMMAND ${name} ${without} LABELS ${T_LABELS} ${common})
  if(T_FONTS)
    fovea_test_entry(${folder}/noto COMMAND ${name} ${without} LABELS ${T_LABELS} ENVIRONMENT "FOVEA_TEST_FONT=Noto Sans" ${common})
  endif()
  if(T_SLOW)
    set(slow_labels ${T_LABELS})
    list(TRANSFORM slow_labels REPLACE "^fast$" slow)
    fovea_test_entry(${folder}/slow COMMAND ${name} ${T_SLOW} LABELS ${slow_labels} ${common})
    set_tests_properties(${folder}/slow PROPERTIES COST 100) # what takes longest begins first
  endif()
  # Sanitizers find nothing more there.
  if(T_EACH_SET AND NOT FOVEA_SANITIZE)
    foreach(set ${fovea_instruction_sets})
      set(classes ${T_EACH_SET})
      if(set STREQUAL scalar)
        list(REMOVE_ITEM classes ${T_NOT_SCALAR})
      endif()
      fovea_test_entry(${folder}/${set} COMMAND with_instruction_set ${set} $<TARGET_FILE:${name}> ${classes} LABELS slow ${common})
      set_tests_properties(${folder}/${set} PROPERTIES SKIP_RETURN_CODE 77)
    endforeach()
  endif()
endfunction()
