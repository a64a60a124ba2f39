# nnc_add_model(NAME detector MODEL detector.onnx [TARGET aarch64]
#               [SHAPE image=1x3x480x640 ...] [OPTIONS --max-ram=256K ...])
#
# Adds the static library `detector` of the code that `nnc compile` makes of a model,
# with its alias detector::detector. A program links the library and includes
# "detector.h". The build runs nnc again when the model, its external data, a file that
# an option names, or nnc itself changes.
#
#   NAME     the library, the C functions and the header
#   MODEL    the file, from the current source folder
#   TARGET   the machine, see `nnc targets`; this machine's `native` unless given, and
#            needed where CMake builds for another machine; for a GPU, such as cuda-sm90,
#            the project needs the language CUDA
#   SHAPE    shapes of inputs whose dimensions the model leaves open, as --shape has them
#   OPTIONS  further options of `nnc compile`; files are named from the current source
#            folder
#
# The library is the project's own: target_compile_options(detector PRIVATE -Os),
# target_compile_definitions(detector PRIVATE NNC_WEIGHTS_SECTION=.flash) and
# install(TARGETS detector EXPORT ...) work as for others; the latter takes the header
# along. Its property NNC_FOLDER is the folder of the code.
#
# nnc runs on the machine that builds: NNC_EXECUTABLE names it, else it is the target
# nnc::nnc.
set(NNC_EXECUTABLE "" CACHE FILEPATH
    "The nnc that runs on this machine; that of the package or project unless given")

# The functions keep these policies whatever the project has: paths in dependency files
# mean the same for all generators.
cmake_policy(VERSION 3.21)

function(nnc_add_model)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;MODEL;TARGET" "SHAPE;OPTIONS")
  _nnc_check_arguments()
  cmake_path(ABSOLUTE_PATH arg_MODEL BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE
             OUTPUT_VARIABLE model)
  if(NNC_EXECUTABLE)
    set(nnc "${NNC_EXECUTABLE}")
  else()
    set(nnc "$<TARGET_FILE:nnc::nnc>")
  endif()

  # Which files nnc writes depends on the model, so the library consists of three
  # sources that are always there: the module, and a C file and an assembler file that
  # include what else there is.
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/nnc)
  set(code ${folder}/${arg_NAME})
  set(extension cpp)
  if(arg_TARGET MATCHES "^cuda-")
    set(extension cu)
  endif()
  set(sources ${code}/${arg_NAME}.${extension} ${code}.c ${code}.S)
  set(shapes "")
  foreach(shape IN LISTS arg_SHAPE)
    list(APPEND shapes --shape ${shape})
  endforeach()
  _nnc_find_processor(processor)
  add_custom_command(
    OUTPUT ${sources} ${code}/${arg_NAME}.h ${code}.flags ${code}.c.flags
    BYPRODUCTS ${code}/manifest.json
    COMMAND ${nnc} compile ${model} --name=${arg_NAME} --target=${arg_TARGET} ${shapes}
            ${arg_OPTIONS} -o ${code} --depfile ${code}.d
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${code} -DPROCESSOR=${processor} -P
            ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/NNCFinishModel.cmake
    DEPENDS ${model} ${nnc} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/NNCFinishModel.cmake
    DEPFILE ${code}.d
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    COMMENT "Compiling ${arg_MODEL} for ${arg_TARGET}"
    VERBATIM COMMAND_EXPAND_LISTS)
  file(MAKE_DIRECTORY ${folder})

  add_library(${arg_NAME} STATIC ${sources})
  add_library(${arg_NAME}::${arg_NAME} ALIAS ${arg_NAME})
  target_include_directories(${arg_NAME} PUBLIC "$<BUILD_INTERFACE:${code}>"
                                                "$<INSTALL_INTERFACE:include>")
  if(extension STREQUAL "cu")
    # The flags that nnc says name the architectures.
    target_compile_features(${arg_NAME} PRIVATE cuda_std_17)
    set_target_properties(${arg_NAME} PROPERTIES CUDA_ARCHITECTURES OFF
                                                 POSITION_INDEPENDENT_CODE ON)
    target_compile_options(
      ${arg_NAME} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:--options-file=${code}.flags>")
  else()
    target_compile_features(${arg_NAME} PRIVATE cxx_std_17)
  endif()
  set_target_properties(
    ${arg_NAME} PROPERTIES PUBLIC_HEADER ${code}/${arg_NAME}.h NNC_FOLDER ${code}
                           UNITY_BUILD OFF CXX_CLANG_TIDY "" C_CLANG_TIDY "")
  # The flags of the target and the module are known when nnc has run.
  target_compile_options(${arg_NAME} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:@${code}.flags>"
                                             "$<$<COMPILE_LANGUAGE:C>:@${code}.c.flags>")
  # The project need not have enabled the assembler; the C compiler calls it.
  set_source_files_properties(${code}.S PROPERTIES LANGUAGE C COMPILE_OPTIONS
                                                              "-x;assembler-with-cpp")
  _nnc_needs_level(needs_level)
  if(needs_level)
    target_compile_options(${arg_NAME} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-O3>")
  endif()
endfunction()

# Stops where the arguments of nnc_add_model() are wrong, and completes them.
macro(_nnc_check_arguments)
  foreach(word NAME MODEL)
    if(NOT arg_${word})
      message(FATAL_ERROR "nnc_add_model: ${word} is missing")
    endif()
  endforeach()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "nnc_add_model(${arg_NAME}): unknown arguments: "
                        "${arg_UNPARSED_ARGUMENTS}; options of nnc go behind OPTIONS")
  endif()
  foreach(option IN LISTS arg_OPTIONS)
    if(option MATCHES "^(-o|--output|--name|--target|--depfile|--package|--json)(=|$)")
      message(FATAL_ERROR "nnc_add_model(${arg_NAME}): OPTIONS cannot have ${option}; "
                          "NAME and TARGET are arguments, and CMake has the rest")
    endif()
  endforeach()
  if(NOT arg_TARGET)
    set(arg_TARGET native)
  endif()
  if(CMAKE_CROSSCOMPILING AND arg_TARGET STREQUAL "native")
    message(FATAL_ERROR "nnc_add_model(${arg_NAME}): this build is for another machine "
                        "(${CMAKE_SYSTEM_NAME} ${CMAKE_SYSTEM_PROCESSOR}); give TARGET, such "
                        "as TARGET aarch64 or TARGET cortex-m4: `nnc targets` lists them")
  endif()
  if(NOT NNC_EXECUTABLE AND NOT TARGET nnc::nnc)
    message(FATAL_ERROR "nnc_add_model(${arg_NAME}): there is no nnc for this machine; "
                        "name it with -DNNC_EXECUTABLE=/path/to/nnc")
  endif()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(needed C CXX)
  if(arg_TARGET MATCHES "^cuda-")
    list(APPEND needed CUDA)
  endif()
  foreach(language IN LISTS needed)
    if(NOT language IN_LIST languages)
      list(JOIN needed " " needed)
      message(FATAL_ERROR "nnc_add_model(${arg_NAME}): the project needs LANGUAGES ${needed}")
    endif()
  endforeach()
endmacro()

# Whether firmware's own flags name a processor, such as -mcpu=: then they win over
# those of nnc's target, as they do in the CMakeLists.txt that nnc writes.
function(_nnc_find_processor variable)
  get_directory_property(options COMPILE_OPTIONS)
  set(named OFF)
  if(CMAKE_SYSTEM_NAME STREQUAL "Generic"
     AND "${CMAKE_CXX_FLAGS};${options}" MATCHES "(^|[ ;:,])-m(cpu|arch)=")
    set(named ON)
  endif()
  set(${variable} ${named} PARENT_SCOPE)
endfunction()

# Whether nothing says how to optimise: no build type and no flag such as -Os.
function(_nnc_needs_level variable)
  get_directory_property(options COMPILE_OPTIONS)
  set(needed OFF)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES
     AND NOT "${CMAKE_CXX_FLAGS};${options}" MATCHES "(^|[ ;:,])-O")
    set(needed ON)
  endif()
  set(${variable} ${needed} PARENT_SCOPE)
endfunction()
