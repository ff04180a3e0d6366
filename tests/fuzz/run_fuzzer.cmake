# Runs one fuzzer as a test: the same mutations of the same seeds each time, findings kept for later.
cmake_minimum_required(VERSION 3.25)
if(NOT "$ENV{FOVEA_FUZZ_RUNS}" STREQUAL "")
  set(RUNS $ENV{FOVEA_FUZZ_RUNS})
endif()
file(GLOB seeds ${SOURCE}/corpus/${NAME}/*)
list(LENGTH seeds seed_count)
if(seed_count EQUAL 0)
  message(FATAL_ERROR "tests/fuzz/corpus/${NAME} has no seeds")
endif()
math(EXPR runs "${RUNS} + ${seed_count}")  # the seeds themselves are not counted as mutations
set(options -runs=${runs} -seed=1 -max_len=${MAX_LENGTH} -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=512
    -print_final_stats=1 -artifact_prefix=${BINARY}/findings/${NAME}-)
if(EXISTS ${SOURCE}/${NAME}.dict)
  list(APPEND options -dict=${SOURCE}/${NAME}.dict)
endif()
# What an earlier run has kept would change this one.
file(REMOVE_RECURSE ${BINARY}/kept/${NAME})
file(MAKE_DIRECTORY ${BINARY}/kept/${NAME} ${BINARY}/findings)
execute_process(COMMAND ${FUZZER} ${options} ${BINARY}/kept/${NAME} ${SOURCE}/corpus/${NAME} RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${NAME}: an input broke it; it lies in ${BINARY}/findings. Repeat: ${FUZZER} FILE")
endif()
