# Writes the manual pages of NNC, the program, and what lets shells complete its options,
# into FOLDER, as share/ of a prefix has them.
set(pages ${FOLDER}/man/man1)
set(bash ${FOLDER}/bash-completion/completions)
set(zsh ${FOLDER}/zsh/site-functions)
set(fish ${FOLDER}/fish/vendor_completions.d)
# Pages of commands that there are no more would stay.
file(REMOVE_RECURSE ${FOLDER})
file(MAKE_DIRECTORY ${pages} ${bash} ${zsh} ${fish})
foreach(arguments "manual;--output-dir;${pages}" "completion;bash;-o;${bash}/nnc"
                  "completion;zsh;-o;${zsh}/_nnc" "completion;fish;-o;${fish}/nnc.fish")
  execute_process(COMMAND ${NNC} ${arguments} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
