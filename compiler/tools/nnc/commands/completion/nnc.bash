# Completion of nnc for bash, as 'nnc completion bash' prints it.

# tables of commands, options and values

# _nnc_reply VALUE KIND...: adds what completes VALUE. $given is in front of it in
# the argument.
_nnc_reply() {
  local value=$1 kind names=() name pattern i
  shift
  for kind; do
    case $kind in
      @text) ;;
      @list)
        given+=${value%"${value##*,}"}
        value=${value##*,}
        ;;
      @behind?)
        # A file's name begins behind this character.
        [[ $value == *"${kind#@behind}"* ]] || return 0
        given+=${value%"${value##*"${kind#@behind}"}"}
        value=${value##*"${kind#@behind}"}
        ;;
      @folder) mapfile -t -O "${#names[@]}" names < <(compgen -d -- "$value") ;;
      @file) mapfile -t -O "${#names[@]}" names < <(compgen -f -- "$value") ;;
      @file*)
        # Upper case is as good: MODEL.ONNX.
        pattern='!*'
        for ((i = 5; i < ${#kind}; ++i)); do
          name=${kind:i:1}
          pattern+=[${name,}${name^}]
        done
        mapfile -t -O "${#names[@]}" names < <(
          compgen -f -X "$pattern" -- "$value"
        )
        ;;
      @command) mapfile -t -O "${#names[@]}" names < <(compgen -c -- "$value") ;;
      *) [[ $kind == "$value"* ]] && COMPREPLY+=("$given$kind") ;;
    esac
  done
  if [[ " $* " == *' @file.'* ]]; then
    mapfile -t -O "${#names[@]}" names < <(compgen -d -- "$value")
  fi
  if [[ " $* " == *' @f'* ]]; then
    compopt -o filenames 2>/dev/null
  fi
  for name in "${names[@]}"; do
    COMPREPLY+=("$given$name")
  done
}

_nnc() {
  # Readline cuts the line at = and :, and replaces what is behind the last one.
  local words=(nnc) word joins= i
  for ((i = 1; i <= COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    if [[ -n $joins && -n $word || $i -gt 1 && $word == [=:]* ]]; then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    joins=
    [[ $word == [=:]* ]] && joins=1
  done
  local last=$((${#words[@]} - 1))
  local current=${words[last]} replaced=${COMP_WORDS[COMP_CWORD]}
  [[ $replaced == [=:]* ]] && replaced=
  local kept=${current%"$replaced"}

  # The command, the option whose value is wanted, and the number of arguments.
  # Behind -- all words are arguments.
  local command= option= count=0 dashes=
  for ((i = 1; i < last; ++i)); do
    word=${words[i]}
    if [[ -n $option ]]; then
      option=
    elif [[ -z $dashes && $word == -- ]]; then
      dashes=1
    elif [[ -z $dashes && $word == -?* ]]; then
      [[ $word != *=* && -n $(_nnc_values "$command $word") ]] && option=$word
    elif [[ -z $command ]]; then
      command=$word
    else
      count=$((count + 1))
    fi
  done

  local given= kinds
  COMPREPLY=()
  if [[ -n $option ]]; then
    kinds=$(_nnc_values "$command $option")
  elif [[ -n $dashes ]]; then
    kinds=$(_nnc_values "$command $((count + 1))")
  elif [[ $current == --*=* ]]; then
    given=${current%%=*}=
    current=${current#*=}
    kinds=$(_nnc_values "$command ${given%=}")
  elif [[ $current == -* ]]; then
    kinds=$(_nnc_options "$command")
  elif [[ -z $command ]]; then
    kinds=$_nnc_commands
  else
    kinds=$(_nnc_values "$command $((count + 1))")
    [[ -n $kinds ]] || kinds=$(_nnc_options "$command")
  fi
  # shellcheck disable=SC2086 # the kinds are words
  _nnc_reply "$current" $kinds
  for ((i = 0; i < ${#COMPREPLY[@]}; ++i)); do
    COMPREPLY[i]=${COMPREPLY[i]#"$kept"}
  done
  if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=:] ]]; then
    compopt -o nospace 2>/dev/null
  fi
}

complete -F _nnc nnc
