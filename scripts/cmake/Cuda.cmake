# NVIDIA's compiler, 12.8 or later, from a toolkit or from its Python packages (scripts/setup.sh), and what is made
# with it: the module fovea_cuda.so. Without the compiler one line says so and the build goes on.
set(FOVEA_CUDA AUTO CACHE STRING "The GPU module: AUTO (where nvcc is found), ON (it must be), OFF")
set(FOVEA_CUDA_PACKAGES ${CMAKE_SOURCE_DIR}/build/cuda CACHE PATH "Folder of NVIDIA's Python packages")
set(FOVEA_CUDA_DISASSEMBLER ${CMAKE_SOURCE_DIR}/build/cuda-disassembler CACHE PATH "Likewise, of its disassembler, for a test")

# Architectures that the module has code for, and those whose PTX it has, for later ones: sm_90's serves what lies
# between it and sm_120.
set(fovea_cuda_architectures 86 89 90 120)
set(fovea_cuda_ptx 90 120)

function(fovea_find_nvcc)
  set(FOVEA_CUDA_FOUND FALSE PARENT_SCOPE)
  # Sanitizers and fuzzers know no GPU, and Clang's own libraries no host compiler of nvcc's.
  if(FOVEA_CUDA STREQUAL OFF OR FOVEA_SANITIZE OR FOVEA_FUZZ OR NOT CMAKE_SYSTEM_NAME STREQUAL Linux)
    return()
  endif()
  find_program(FOVEA_NVCC nvcc
    HINTS ENV CUDACXX ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda /opt/cuda ${FOVEA_CUDA_PACKAGES}/nvidia/cu13
    PATH_SUFFIXES bin)
  set(trouble "nvcc is not found")
  if(FOVEA_NVCC)
    execute_process(COMMAND ${FOVEA_NVCC} --version OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(text MATCHES "release ([0-9]+\\.[0-9]+)")
      set(version ${CMAKE_MATCH_1})
      set(trouble "")
      if(version VERSION_LESS 12.8)
        set(trouble "${FOVEA_NVCC} is ${version}, 12.8 or later is needed")
      endif()
    else()
      set(trouble "${FOVEA_NVCC} does not start")
    endif()
  endif()
  if(NOT trouble)
    get_filename_component(folder ${FOVEA_NVCC} REALPATH)
    get_filename_component(folder ${folder} DIRECTORY)
    get_filename_component(folder ${folder} DIRECTORY)
    find_path(FOVEA_CUDA_INCLUDE cuda_runtime_api.h PATHS ${folder}/include ${folder}/targets/x86_64-linux/include
      NO_DEFAULT_PATH)
    find_library(FOVEA_CUDA_RUNTIME libcudart_static.a
      PATHS ${folder}/lib64 ${folder}/lib ${folder}/targets/x86_64-linux/lib NO_DEFAULT_PATH)
    if(NOT FOVEA_CUDA_INCLUDE OR NOT FOVEA_CUDA_RUNTIME)
      set(trouble "${folder} has no cuda_runtime_api.h or libcudart_static.a")
    endif()
  endif()
  if(NOT trouble)
    message(STATUS "GPU module: nvcc ${version} (${FOVEA_NVCC})")
    set(FOVEA_CUDA_FOUND TRUE PARENT_SCOPE)
    set(FOVEA_NVCC_VERSION ${version} PARENT_SCOPE)
  elseif(FOVEA_CUDA STREQUAL ON)
    message(FATAL_ERROR "GPU module: ${trouble}. Install the CUDA Toolkit 12.8 or later, or run ./scripts/test, which downloads the compiler, or configure with -DFOVEA_CUDA=OFF")
  else()
    message(STATUS "GPU module: left out, ${trouble}")
  endif()
endfunction()
fovea_find_nvcc()

# fovea_compile_cuda(OUT objects REPORTS reports SOURCES a.cu b.cu): compiles each source for all architectures; what
# ptxas says of the kernels' registers, spills and shared memory becomes a report beside the object. READABLE: to PTX
# alone, as text.
function(fovea_compile_cuda)
  cmake_parse_arguments(C "READABLE" "OUT;REPORTS" "SOURCES;INCLUDES" ${ARGN})
  set(code "")
  set(for "${fovea_cuda_architectures}")
  if(C_READABLE)
    set(for PTX)
    list(APPEND code -gencode arch=compute_90,code=compute_90 --no-compress -lineinfo)
  else()
    foreach(architecture ${fovea_cuda_architectures})
      list(APPEND code -gencode arch=compute_${architecture},code=sm_${architecture})
    endforeach()
    foreach(architecture ${fovea_cuda_ptx})
      list(APPEND code -gencode arch=compute_${architecture},code=compute_${architecture})
    endforeach()
  endif()
  set(flags -std=c++20 -O3 $<$<CONFIG:Release>:-DNDEBUG> -Xptxas -v -ccbin ${CMAKE_CXX_COMPILER} -Xcompiler -fPIC
    -Xcompiler -fvisibility=hidden ${code})
  if(FOVEA_WERROR)
    list(APPEND flags --Werror all-warnings)
  endif()
  foreach(include ${C_INCLUDES})
    list(APPEND flags -I${include})
  endforeach()
  foreach(source ${C_SOURCES})
    get_filename_component(name ${source} NAME_WE)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.cu.o)
    set(report ${CMAKE_CURRENT_BINARY_DIR}/${name}.ptxas.txt)
    add_custom_command(OUTPUT ${object}
      COMMAND ${CMAKE_COMMAND} -DREPORT=${report} -P ${CMAKE_SOURCE_DIR}/scripts/cmake/nvcc.cmake --
              ${CMAKE_CXX_COMPILER_LAUNCHER} ${FOVEA_NVCC} ${flags} -MD -MF ${object}.d -c ${source} -o ${object}
      BYPRODUCTS ${report}
      DEPENDS ${source} ${CMAKE_SOURCE_DIR}/scripts/cmake/nvcc.cmake DEPFILE ${object}.d
      COMMENT "Compiling ${name}.cu for ${for}"
      COMMAND_EXPAND_LISTS VERBATIM)
    list(APPEND objects ${object})
    list(APPEND reports ${report})
  endforeach()
  set(${C_OUT} ${objects} PARENT_SCOPE)
  set(${C_REPORTS} ${reports} PARENT_SCOPE)
endfunction()
