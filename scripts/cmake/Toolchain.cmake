# Language level, warnings, sanitizers and build speed for every target.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()
# Plain -O2: the hot loops are written with intrinsics and gain nothing from -O3.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The first of two settings with which it also keeps what is compiled with a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

# target_precompile_headers, with the second.
function(fovea_precompile_headers target)
  target_precompile_headers(${target} ${ARGN})
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>"
    "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()

# std::expected needs libstdc++ 12 and a compiler that says so.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS -std=c++23)
check_cxx_source_compiles("#include <expected>
int main() { std::expected<int, int> e = 0; return *e; }" FOVEA_HAS_EXPECTED)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT FOVEA_HAS_EXPECTED)
  message(FATAL_ERROR "This compiler has no std::expected: use GCC 12 or later, or Clang 19 or later (apt install g++-12, or clang-19)")
endif()

add_library(fovea_flags INTERFACE)
target_compile_options(fovea_flags INTERFACE -Wall -Wextra -Wpedantic
  # libstdc++ 12's stable_sort uses a function that it marks as deprecated itself.
  $<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>)
if(FOVEA_WERROR)
  target_compile_options(fovea_flags INTERFACE -Werror)
endif()
if(FOVEA_SANITIZE)
  add_compile_options(-fsanitize=${FOVEA_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${FOVEA_SANITIZE})
endif()
if(FOVEA_FUZZ)
  # For the counters that show libFuzzer which code an input has reached (fovea_module).
  add_link_options($<$<CXX_COMPILER_ID:Clang>:-fsanitize=fuzzer-no-link>)
endif()
find_package(Threads REQUIRED)
