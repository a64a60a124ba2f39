# What the compiler needs and scripts/setup installs.

# Debian keeps LLVM 19 in a prefix of its own.
list(APPEND CMAKE_PREFIX_PATH /usr/lib/llvm-19)
find_package(MLIR REQUIRED CONFIG)
message(STATUS "Using MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")
if(NOT LLVM_VERSION_MAJOR EQUAL 19)
  message(FATAL_ERROR "nnc needs LLVM 19, found ${LLVM_PACKAGE_VERSION}; "
                      "run scripts/setup")
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
# Debian's static parts of MLIR ask for the shared LLVM.
if(NNC_STATIC_LLVM)
  get_directory_property(imported IMPORTED_TARGETS)
  list(FILTER imported INCLUDE REGEX "^MLIR")
  foreach(part ${imported})
    get_target_property(needs ${part} INTERFACE_LINK_LIBRARIES)
    list(TRANSFORM needs REPLACE "^LLVM$" LLVMSupport)
    set_target_properties(${part} PROPERTIES INTERFACE_LINK_LIBRARIES "${needs}")
  endforeach()
endif()
# LLVM gives Ninja dependency files with paths from the top of the build folder.
cmake_policy(PUSH)
cmake_policy(SET CMP0116 OLD)
include(TableGen)
include(AddLLVM)
include(AddMLIR)
cmake_policy(POP)
separate_arguments(NNC_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")

# The folder that scripts/setup fills: the ONNX library, test models, the venv.
if(DEFINED ENV{NNC_CACHE})
  set(default_cache $ENV{NNC_CACHE})
elseif(DEFINED ENV{XDG_CACHE_HOME})
  set(default_cache $ENV{XDG_CACHE_HOME}/nnc)
else()
  set(default_cache $ENV{HOME}/.cache/nnc)
endif()
set(NNC_CACHE ${default_cache} CACHE PATH "What scripts/setup downloads and builds")

set(NNC_ONNX_VERSION 1.23.2)
list(APPEND CMAKE_PREFIX_PATH ${NNC_CACHE}/onnx-${NNC_ONNX_VERSION})
# ONNX's own package file expects to find Protobuf already looked up.
find_package(Protobuf REQUIRED)
find_package(ONNX ${NNC_ONNX_VERSION} EXACT QUIET CONFIG)
if(NOT ONNX_FOUND)
  message(WARNING "ONNX ${NNC_ONNX_VERSION} is not in ${NNC_CACHE}: run scripts/setup")
endif()

# TFLite's format: headers alone, and the compiler of schemas.
find_path(FLATBUFFERS_HEADERS flatbuffers/flatbuffers.h REQUIRED)
find_program(FLATC flatc REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
if(NNC_BUILD_TESTS)
  find_package(Catch2 2 REQUIRED)
endif()
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)

# Debian's minizip has no package file for CMake.
find_path(MINIZIP_HEADERS minizip/unzip.h REQUIRED)
find_library(MINIZIP_LIBRARY minizip REQUIRED)
add_library(minizip::minizip UNKNOWN IMPORTED)
set_target_properties(minizip::minizip PROPERTIES
  IMPORTED_LOCATION ${MINIZIP_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${MINIZIP_HEADERS})

# Python for the tests: the venv that scripts/setup makes, with pinned packages.
set(NNC_PYTHON ${NNC_CACHE}/venv/bin/python CACHE FILEPATH "Python of the tests")

# mlir_tablegen() looks for .td files where the directory's includes point.
include_directories(${PROJECT_SOURCE_DIR})
include_directories(SYSTEM ${PROJECT_BINARY_DIR} ${LLVM_INCLUDE_DIRS}
                    ${MLIR_INCLUDE_DIRS})
