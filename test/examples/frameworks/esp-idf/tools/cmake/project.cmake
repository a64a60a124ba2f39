# Stands in for ESP-IDF in a test, on this machine: project() builds the components in
# components/ and main/, each of which calls idf_component_register() once, and a program
# around them. Options are what sdkconfig.defaults sets.
set(STUB_FOLDER ${CMAKE_CURRENT_LIST_DIR})

macro(idf_component_register)
  cmake_parse_arguments(arg "" "" "SRCS;INCLUDE_DIRS;REQUIRES" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  get_filename_component(COMPONENT_NAME ${CMAKE_CURRENT_LIST_DIR} NAME)
  set(COMPONENT_LIB __idf_${COMPONENT_NAME})
  list(TRANSFORM arg_SRCS PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
  add_library(${COMPONENT_LIB} STATIC ${arg_SRCS})
  target_include_directories(${COMPONENT_LIB} PUBLIC ${arg_INCLUDE_DIRS})
  target_compile_options(${COMPONENT_LIB} PRIVATE
                         -Os "$<$<COMPILE_LANGUAGE:CXX>:-std=gnu++11;-fno-exceptions>")
  foreach(name ${arg_REQUIRES})
    target_link_libraries(${COMPONENT_LIB} PUBLIC __idf_${name})
  endforeach()
endmacro()

macro(project name)
  _project(${name} LANGUAGES C CXX)
  file(STRINGS sdkconfig.defaults lines REGEX "^CONFIG_")
  foreach(line ${lines} ${MORE_OPTIONS})
    string(REGEX MATCH "^([^=]*)=\"?([^\"]*)\"?$" matched "${line}")
    set(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
  endforeach()
  file(GLOB components components/*)
  foreach(folder ${components} ${CMAKE_CURRENT_LIST_DIR}/main)
    # In its first reading, ESP-IDF only asks which components others need.
    execute_process(
      COMMAND ${CMAKE_COMMAND} -D FOLDER=${folder} -P ${STUB_FOLDER}/requirements.cmake
      COMMAND_ERROR_IS_FATAL ANY)
    add_subdirectory(${folder})
  endforeach()
  add_executable(${name} ${STUB_FOLDER}/main.c)
  target_link_libraries(${name} PRIVATE __idf_main m)
endmacro()
