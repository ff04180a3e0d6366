# What bash would offer after "fovea ": complete.bash COMPLETION_FILE
# shellcheck disable=SC1090,SC2034  # the file is an argument; bash itself reads COMP_WORDS
source "$1"
COMP_WORDS=(fovea '')
COMP_CWORD=1
cd /
_fovea 2>/dev/null # compopt works only while bash completes
printf '%s\n' "${COMPREPLY[@]}"
