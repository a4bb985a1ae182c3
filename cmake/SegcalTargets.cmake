# SPDX-License-Identifier: Apache-2.0

# Sources of the given folders; unit tests sit beside them and are left out.
function(segcal_sources out)
  set(all)
  foreach(folder ${ARGN})
    file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cc)
    list(FILTER files EXCLUDE REGEX "_test\\.cc$")
    list(APPEND all ${files})
  endforeach()
  set(${out} ${all} PARENT_SCOPE)
endfunction()

# Settings of a target that sees the inside of the library: its own parts, tests and benchmarks.
function(segcal_common target)
  segcal_flags(${target})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
                                               ${PROJECT_SOURCE_DIR})
endfunction()

# Settings every target of ours shares.
function(segcal_flags target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  # Contraction would make sums depend on the compiler's choice of fused multiply-add.
  target_compile_options(${target} PRIVATE -ffp-contract=off -Wall -Wextra -Wshadow -Wnon-virtual-dtor
                         -Wold-style-cast -Wcast-qual -Wundef)
  if(SEGCAL_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  # Sanitized kernels compile slowly. Two sets remain, the widest and the narrowest that have vector
  # instructions; every set is tested in the builds without sanitizers. The baseline of x86 is emulated
  # in plain loops, each step of which would be checked: that alone took longer than all other kernels.
  if(SEGCAL_QUICK_KERNELS)
    target_compile_definitions(${target} PRIVATE "HWY_DISABLED_TARGETS=(HWY_AVX3|HWY_AVX3_DL|HWY_SSE4)")
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
      target_compile_options(${target} PRIVATE -mssse3)
    endif()
  endif()
  if(SEGCAL_SANITIZE)
    # What the three last checks look for stops under the address sanitizer too; they are a tenth to a fifth
    # of compiling.
    target_compile_options(${target} PRIVATE -fsanitize=${SEGCAL_SANITIZE} -fno-omit-frame-pointer
                           -fno-sanitize-recover=all -fno-sanitize=null,object-size,vptr)
    target_link_options(${target} PUBLIC -fsanitize=${SEGCAL_SANITIZE})
  endif()
  target_compile_definitions(${target} PRIVATE $<$<NOT:$<CONFIG:Release>>:SEGCAL_DCHECK_ENABLED=1>)
endfunction()

# The headers that cost most to compile, once per target; further ones as arguments.
function(segcal_precompile target)
  target_precompile_headers(${target} PRIVATE <algorithm> <functional> <map> <memory> <string> <vector>
                            <fmt/format.h> <nlohmann/json.hpp> ${ARGN})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # So that ccache can tell that the precompiled header is the same.
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# With SEGCAL_UNITY every folder of a target is compiled as one file, which reads the slow headers once per
# folder instead of once per file. Names in unnamed namespaces of a folder therefore may not clash. Files that
# Highway includes once per instruction set stay alone, and so do all kernels.
function(segcal_by_folder target)
  if(NOT SEGCAL_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  foreach(source ${sources})
    file(STRINGS ${source} per_target REGEX "foreach_target")
    if(NOT per_target)
      get_filename_component(folder ${source} DIRECTORY)
      get_filename_component(folder ${folder} NAME)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
    endif()
  endforeach()
endfunction()
