# Completion of nnc for bash, as 'nnc completion bash' prints it.

# tables of commands, options and values

# _nnc_reply VALUE KIND...: adds what completes VALUE. $given is in front of it in
# the argument.
_nnc_reply() {
  local value=$1 kind names=() name
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
        mapfile -t -O "${#names[@]}" names < <(
          compgen -f -X "!*${kind#@file}" -- "$value"
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
  local command= option= count=0
  for ((i = 1; i < last; ++i)); do
    word=${words[i]}
    if [[ -n $option ]]; then
      option=
    elif [[ $word == -?* ]]; then
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
