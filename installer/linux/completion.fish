# Completion of fovea for fish. Commands are asked of the program itself.
function __fovea_commands
    fovea --help 2>/dev/null | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\)  *\(.*\)/\1\t\2/p'
end
function __fovea_options
    set -l words (commandline -opc)
    fovea $words[2] --help 2>/dev/null | string match -ra -- '--[a-z][a-z-]+'
end
complete -c fovea -n 'test (count (commandline -opc)) -eq 1' -a '(__fovea_commands)'
complete -c fovea -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__fovea_options)'
