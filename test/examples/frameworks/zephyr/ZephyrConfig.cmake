# Stands in for Zephyr in a test: the functions that applications and modules call, and
# flags such as Zephyr's. Options are what prj.conf sets; names that no Kconfig file
# defines are errors, as in Zephyr. Builds zephyr.elf around the application.
project(Zephyr LANGUAGES C CXX)

add_library(zephyr_interface INTERFACE)
target_compile_options(
  zephyr_interface INTERFACE -Os -Wall
  "$<$<COMPILE_LANGUAGE:CXX>:-std=c++11;-fno-exceptions;-fno-rtti>")

function(zephyr_library_named name)
  add_library(${name} STATIC)
  target_link_libraries(${name} PRIVATE zephyr_interface)
  set_property(GLOBAL APPEND PROPERTY ZEPHYR_LIBS ${name})
  set(ZEPHYR_CURRENT_LIBRARY ${name} PARENT_SCOPE)
endfunction()
macro(zephyr_library_sources)
  target_sources(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
endmacro()
macro(zephyr_library_compile_definitions)
  target_compile_definitions(${ZEPHYR_CURRENT_LIBRARY} PRIVATE ${ARGN})
endmacro()
function(zephyr_include_directories)
  target_include_directories(zephyr_interface INTERFACE ${ARGN})
endfunction()
function(zephyr_compile_definitions)
  target_compile_definitions(zephyr_interface INTERFACE ${ARGN})
endfunction()

# The values of a key in a module's module.yml.
function(read_module module key variable)
  file(STRINGS ${module}/zephyr/module.yml lines REGEX "^  ${key}: ")
  string(REPLACE "  ${key}: " "" value "${lines}")
  set(${variable} ${module}/${value} PARENT_SCOPE)
endfunction()

set(known CONFIG_CPP)
foreach(module ${ZEPHYR_EXTRA_MODULES})
  read_module(${module} kconfig kconfig)
  file(STRINGS ${kconfig} lines REGEX "^config ")
  list(TRANSFORM lines REPLACE "^config " "CONFIG_")
  list(APPEND known ${lines})
endforeach()
file(STRINGS prj.conf lines REGEX "^CONFIG_")
foreach(line ${lines} ${MORE_OPTIONS})
  string(REGEX MATCH "^([^=]*)=\"?([^\"]*)\"?$" matched "${line}")
  if(NOT CMAKE_MATCH_1 IN_LIST known)
    message(FATAL_ERROR "no Kconfig file has ${CMAKE_MATCH_1}")
  endif()
  set(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
endforeach()

foreach(module ${ZEPHYR_EXTRA_MODULES})
  read_module(${module} cmake folder)
  add_subdirectory(${folder} modules/${folder})
endforeach()

add_library(app STATIC)
target_link_libraries(app PRIVATE zephyr_interface)
get_property(libraries GLOBAL PROPERTY ZEPHYR_LIBS)
add_executable(zephyr ${BOARD_FOLDER}/start.c)
set_target_properties(zephyr PROPERTIES SUFFIX .elf)
target_link_libraries(zephyr PRIVATE app ${libraries} m)
target_link_options(zephyr PRIVATE --specs=nano.specs --specs=rdimon.specs -nostartfiles
                    -T${BOARD_FOLDER}/mps2-an386.ld)
