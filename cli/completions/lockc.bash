# Completion of the command lockc for bash. Behind the options of `lockc run` it completes what the
# command that is run would complete by itself.

_lockc_values() { # of the option $1
  case $1 in
    --wait) COMPREPLY=(0 10s 5m) ;;
    --ttl) COMPREPLY=(10s 30s 5m) ;;
    --max-hold) COMPREPLY=(10m 1h) ;;
    --url) COMPREPLY=(redis:// unix://) ;;
    --key | --token | --if-version) COMPREPLY=() ;;
    *) return 1 ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "${COMPREPLY[*]}" -- "$cur")
}

# Where the word behind word $1 begins. Bash parts "--url=redis://host" at each = and : into words.
_lockc_behind() {
  local i=$(($1 + 1))
  while [[ ${COMP_WORDS[i]-} == [=:]* ]]; do ((i += 2)); done
  echo "$i"
}

# Prints the index of the command that `lockc run` is given, or nothing where it isn't reached yet.
_lockc_command_index() {
  local i=2 option
  while ((i < COMP_CWORD)); do
    option=$i
    case ${COMP_WORDS[i]} in
      --) echo $((i + 1)) && return ;;
      -*) i=$(_lockc_behind "$i") ;;
      *) echo "$i" && return ;;
    esac
    case ${COMP_WORDS[option]} in
      --fair | --help | -h) ;;
      *) [[ ${COMP_WORDS[option + 1]} == = ]] || i=$(_lockc_behind "$i") ;;
    esac
  done
}

_lockc() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} options command
  COMPREPLY=()
  [[ $cur != = ]] || cur=
  [[ $prev != = ]] || prev=${COMP_WORDS[COMP_CWORD - 2]}
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "run inspect fence --help --version" -- "$cur")
    return
  fi
  case ${COMP_WORDS[1]} in
    run)
      options="--key --url --wait --ttl --max-hold --fair --help"
      command=$(_lockc_command_index)
      if [[ -n $command ]]; then
        if declare -F _command_offset >/dev/null; then
          _command_offset "$command"
        elif ((COMP_CWORD == command)); then
          mapfile -t COMPREPLY < <(compgen -c -- "$cur")
        else
          mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        fi
        return
      fi
      ;;
    inspect) options="--url --json --help" ;;
    fence)
      case ${COMP_WORDS[2]} in
        read) options="--url --json --help" ;;
        write) options="--url --token --if-version --ttl --help" ;;
        *) options="--help" ;;
      esac
      if ((COMP_CWORD == 2)); then
        mapfile -t COMPREPLY < <(compgen -W "read write --help" -- "$cur")
        return
      fi
      ;;
    *) return ;;
  esac
  if _lockc_values "$prev"; then
    return
  elif [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
  elif [[ ${COMP_WORDS[1]} == run ]]; then
    mapfile -t COMPREPLY < <(compgen -c -- "$cur")
  fi
}

complete -F _lockc lockc
