# Completion of fovea for bash. Commands and options are asked of the program itself, so they are never stale.
_fovea() {
  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command= i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]} != -* ]] && { command=${COMP_WORDS[i]}; break; }
  done
  local commands
  commands=$(fovea --help 2>/dev/null | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p')
  if [[ $previous == --policy ]]; then
    mapfile -t COMPREPLY < <(compgen -W "static dynaexq offload none" -- "$word")
  elif [[ $word == -* ]]; then
    [[ " $commands " == *[[:space:]]"$command"[[:space:]]* ]] || command=
    # shellcheck disable=SC2086  # without a command there is none
    mapfile -t COMPREPLY < <(compgen -W "$(fovea $command --help 2>/dev/null | grep -oE '(^|[ ,])--[a-z][a-z-]*')" -- "$word")
  else
    local data=${FOVEA_DATA:-${XDG_DATA_HOME:-$HOME/.local/share}/fovea} models=
    models=$(cd "$data/models" 2>/dev/null && for i in *.gguf */config.json; do
      [[ -e $i ]] && i=${i%/config.json} && echo "${i%.gguf}"
    done)
    [[ -z $command ]] && models+=" $commands"
    mapfile -t COMPREPLY < <(compgen -W "$models" -- "$word"; compgen -f -- "$word")
    compopt -o filenames 2>/dev/null
  fi
}
complete -F _fovea fovea
