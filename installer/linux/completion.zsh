#compdef fovea
# Completion of fovea for zsh. Commands and options are asked of the program itself.
local -a commands options
commands=(${(f)"$(fovea --help 2>/dev/null | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\)  *\(.*\)/\1:\2/p')"})
if [[ $words[CURRENT] == -* ]]; then
  local command=${words[2]}
  [[ ${commands[(r)$command:*]} == "" ]] && command=
  options=(${(f)"$(fovea $command --help 2>/dev/null | grep -oE '(^|[ ,])--[a-z][a-z-]*' | tr -d ' ,')"})
  compadd -a options
else
  ((CURRENT == 2)) && _describe command commands
  _files
fi
