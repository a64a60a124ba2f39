# Compiler settings and helpers shared by every folder.

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

if(NOT CMAKE_BUILD_TYPE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Dev, Release or RelWithDebInfo"
                                     FORCE)
elseif(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Dev: assertions on, line tables for backtraces, as quick to build as can be.
set(CMAKE_C_FLAGS_DEV "-O1 -g1")
set(CMAKE_CXX_FLAGS_DEV "-O1 -g1")

# -O2: a compiler gains nothing from -O3, its build does lose. Variables of this
# folder, as a project that nnc is a part of has its own in the cache.
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

# Everything ends in build/bin and build/lib, where the tests look for it.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

add_compile_options(-Wall -Wextra)

if(NNC_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -fno-sanitize=vptr)
  add_link_options(-fsanitize=address,undefined)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld NNC_HAS_LLD)
  if(NNC_HAS_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

# CCACHE_BASEDIR makes paths relative, so that two clones share their hits.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
               CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

# nnc_add_library(nnc_compiler_search A.cpp B.cpp)
#
# A static library for a folder, with its alias (nnc::compiler_search). Headers
# are included by their path from the top: "dialects/nn/NNOps.h"; generated ones
# are found the same way, below the build folder.
#
# A static library may lack what it calls, as long as whoever links a program adds
# that. So each library has a wall: a program of all of its objects and of the
# libraries that it links by target_link_libraries(), and of nothing else. The
# target nnc_walls links these, which the test structure-links does.
function(nnc_add_library name)
  string(REGEX REPLACE "^nnc_" "" short ${name})
  add_library(${name} STATIC ${ARGN})
  add_library(nnc::${short} ALIAS ${name})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  # SYSTEM: warnings in what mlir-tblgen writes are not ours.
  target_include_directories(${name} SYSTEM PUBLIC ${PROJECT_BINARY_DIR})
  if(PROJECT_IS_TOP_LEVEL)
    nnc_add_wall(${name})
  endif()
endfunction()

function(nnc_add_wall library)
  set(wall ${library}_wall)
  add_executable(${wall} EXCLUDE_FROM_ALL
                 ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/Wall.cpp)
  set_target_properties(${wall} PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/walls
                        UNITY_BUILD OFF)
  target_link_libraries(${wall} PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,${library}>)
  if(NOT TARGET nnc_walls)
    add_custom_target(nnc_walls)
  endif()
  add_dependencies(nnc_walls ${wall})
endfunction()

# nnc_use_mlir(target...)
#
# Links the shared MLIR and LLVM, or with NNC_STATIC_LLVM the parts of them that nnc
# uses, and builds as they were built: no exceptions, no RTTI. Their headers are
# system headers: their warnings are not ours.
function(nnc_use_mlir)
  if(NNC_STATIC_LLVM)
    set(libraries MLIRArithDialect MLIRBytecodeWriter MLIRDialectUtils MLIRFuncDialect MLIRParser MLIRPass MLIRQuantDialect
                  MLIRTransforms LLVMObject LLVMTargetParser LLVMSupport)
  else()
    set(libraries MLIR LLVM)
  endif()
  foreach(target ${ARGN})
    target_include_directories(${target} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS}
                                                       ${MLIR_INCLUDE_DIRS})
    target_compile_definitions(${target} PUBLIC ${NNC_LLVM_DEFINITIONS})
    target_compile_options(
      ${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions;-fno-rtti>)
    target_link_libraries(${target} PUBLIC ${libraries})
  endforeach()
endfunction()

# nnc_sources_throw(A.cpp ...)
#
# For the few sources that call a library which throws (onnx): exceptions
# back on, after the target's -fno-exceptions. None may leave such a file.
function(nnc_sources_throw)
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -fexceptions)
endfunction()

# nnc_join_sources(variable NAME A.cpp B.cpp ...)
#
# For a test of several sources, in a build that compiles several sources as one:
# sets `variable` to a source that includes these, else to these. Each is in a
# namespace of its own, as tests define the same names, behind all headers that
# any of them includes.
function(nnc_join_sources variable name)
  list(LENGTH ARGN count)
  if(NOT "$CACHE{CMAKE_UNITY_BUILD}" OR count EQUAL 1)
    set(${variable} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(headers "")
  set(sources "")
  foreach(source ${ARGN})
    get_filename_component(path ${source} ABSOLUTE)
    get_filename_component(space ${source} NAME_WE)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    file(STRINGS ${path} includes REGEX "^#include (<.*>|\".*[.](h|cuh)\")$")
    list(APPEND headers ${includes})
    # From the top, so that two clones have the same text.
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${path})
    string(APPEND sources "namespace of_${space} {\n#include \"${path}\"\n}\n")
  endforeach()
  list(REMOVE_DUPLICATES headers)
  list(JOIN headers "\n" headers)
  set(joined ${CMAKE_CURRENT_BINARY_DIR}/Unity/${name}.cpp)
  file(CONFIGURE OUTPUT ${joined} CONTENT "@headers@\n\n@sources@" @ONLY)
  set(${variable} ${joined} PARENT_SCOPE)
endfunction()

# nnc_embed_text(output.inc [STRIP folder] folder/a.h ...)
#
# Files, named from the top, as text inside C++: see EmbedText.cmake.
function(nnc_embed_text output)
  cmake_parse_arguments(arg "" "STRIP" "" ${ARGN})
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/EmbedText.cmake)
  list(TRANSFORM arg_UNPARSED_ARGUMENTS PREPEND ${PROJECT_SOURCE_DIR}/
       OUTPUT_VARIABLE paths)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DROOT=${PROJECT_SOURCE_DIR}
            -DSTRIP=${arg_STRIP} "-DFILES=${arg_UNPARSED_ARGUMENTS}" -P ${script}
    DEPENDS ${paths} ${script}
    VERBATIM)
endfunction()
