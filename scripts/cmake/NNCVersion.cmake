# nnc_add_version(target)
#
# Gives the target a source that defines what compiler/tools/nnc/Version.h declares:
# the version, the commit and LLVM's version. It is written when the commit that is
# checked out changes, so that other builds compile and link nothing for it.
#
# The commit comes from -DNNC_COMMIT=..., else from git, else from what `git archive`
# wrote into Commit.txt, else it is "unknown".
set(NNC_COMMIT "" CACHE STRING "Commit that nnc --version tells; git's unless given")

function(nnc_add_version target)
  set(folder ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/Version.cpp)
  set(moved "")
  find_package(Git QUIET)
  # A source archive may lie inside of another project's repository.
  if(GIT_FOUND AND EXISTS ${PROJECT_SOURCE_DIR}/.git)
    # git adds a line to this file whenever HEAD moves, in each worktree its own.
    foreach(file logs/HEAD HEAD)
      execute_process(
        COMMAND ${GIT_EXECUTABLE} rev-parse --git-path ${file}
        WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path
        OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
      cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      if(EXISTS ${path})
        list(APPEND moved ${path})
      endif()
    endforeach()
  endif()
  add_custom_command(
    OUTPUT ${source}
    COMMAND
      ${CMAKE_COMMAND} -DOUTPUT=${source} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}
      -DVERSION=${PROJECT_VERSION} -DLLVM=${LLVM_PACKAGE_VERSION}
      -DCOMMIT=${NNC_COMMIT} -DGIT=${GIT_EXECUTABLE} -P ${folder}/WriteVersion.cmake
    DEPENDS ${folder}/WriteVersion.cmake ${folder}/Version.cpp.in ${folder}/Commit.txt
            ${moved}
    VERBATIM)
  target_sources(${target} PRIVATE ${source})
  set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
