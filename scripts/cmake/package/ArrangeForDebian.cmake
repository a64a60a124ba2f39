# Run by cpack before it makes the package: Debian compresses manual pages, and its zsh looks
# for completions of packages in a folder of its own.
file(GLOB_RECURSE pages ${CPACK_TEMPORARY_DIRECTORY}/nnc*.1)
foreach(page ${pages})
  execute_process(COMMAND gzip --best --no-name ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB_RECURSE completions ${CPACK_TEMPORARY_DIRECTORY}/_nnc)
foreach(completion ${completions})
  cmake_path(GET completion PARENT_PATH folder)
  cmake_path(GET folder PARENT_PATH zsh)
  file(RENAME ${folder} ${zsh}/vendor-completions)
endforeach()
