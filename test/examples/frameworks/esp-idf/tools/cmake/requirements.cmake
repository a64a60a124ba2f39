# ESP-IDF's first reading of a component: in CMake's script mode, up to where the
# component registers itself.
macro(idf_component_register)
  set(registered TRUE)
  return()
endmacro()
include(${FOLDER}/CMakeLists.txt)
if(NOT registered)
  message(FATAL_ERROR "${FOLDER} does not register itself")
endif()
