# Helpers for the tests. Labels: `slow` marks what scripts/test leaves out unless
# it is asked for --all.

# nnc_add_catch_test(runtime-conv2d conv2d_test.cpp LIBS nnc::runtime)
function(nnc_add_catch_test name)
  cmake_parse_arguments(arg "" "" "LIBS;LABELS" ${ARGN})
  nnc_join_sources(sources ${name} ${arg_UNPARSED_ARGUMENTS})
  add_executable(test-${name} ${sources})
  target_link_libraries(test-${name} PRIVATE nnc_catch_main ${arg_LIBS})
  add_test(NAME ${name} COMMAND test-${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}")
endfunction()

# nnc_add_python_test(name script.py [ARGS ...] [LABELS ...] [TIMEOUT seconds] [EVERY_TARGET])
#
# With EVERY_TARGET the script runs for each target what it otherwise runs for one of them in
# turn.
#
# The script finds the build folder in NNC_BUILD_DIR, the cache in NNC_CACHE, and
# first on its path what scripts/setup unpacked of a newer emulator.
function(nnc_add_python_test name script)
  cmake_parse_arguments(arg "EVERY_TARGET" "TIMEOUT" "ARGS;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  set(every)
  if(arg_EVERY_TARGET)
    set(every "NNC_EVERY_TARGET=1")
  endif()
  add_test(NAME ${name} COMMAND ${NNC_PYTHON} -B
                                ${CMAKE_CURRENT_SOURCE_DIR}/${script} ${arg_ARGS})
  set_tests_properties(
    ${name}
    PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} ENVIRONMENT
               "NNC_BUILD_DIR=${PROJECT_BINARY_DIR};NNC_CACHE=${NNC_CACHE};${every}"
               ENVIRONMENT_MODIFICATION
               "PATH=path_list_prepend:${NNC_CACHE}/qemu")
endfunction()

# nnc_add_lit_suite(compiler): every .mlir, .onnxtxt and .test below
# test/compiler, one ctest entry. Where there is none yet, there is no entry.
function(nnc_add_lit_suite folder)
  file(GLOB_RECURSE cases CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/test/${folder}/*.mlir
       ${PROJECT_SOURCE_DIR}/test/${folder}/*.onnxtxt
       ${PROJECT_SOURCE_DIR}/test/${folder}/*.test)
  if(cases)
    add_test(NAME lit-${folder}
             COMMAND ${NNC_PYTHON} -B ${NNC_LIT} -s -vv --order=lexical
                     ${PROJECT_BINARY_DIR}/test/${folder})
  endif()
endfunction()
