#compdef nnc
# Completion of nnc for zsh, as 'nnc completion zsh' prints it.

# tables of commands, options and values

# _nnc_behind CHARACTER PATTERN: files, whose names begin behind the character.
_nnc_behind() {
  compset -P "*$1" && _files -g $2
}

_nnc() {
  local curcontext=$curcontext state line result=1
  typeset -A opt_args
  _nnc_options '' && result=0
  if [[ $state == arguments ]]; then
    curcontext=${curcontext%:*:*}:nnc-$words[1]:
    _nnc_options $words[1] && result=0
  fi
  return result
}

if [[ $funcstack[1] == _nnc ]]; then
  _nnc "$@"
else
  compdef _nnc nnc
fi
