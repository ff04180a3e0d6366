#!/usr/bin/env bash
# check_local_memory.sh CUOBJDUMP FILE ARCHITECTURE KERNEL: reads the machine code of a kernel in FILE, and fails where an
# innermost loop of it has spilled registers to memory: what registers have no room for costs little once, and much in
# each round. 2: it could not be looked at.
set -euo pipefail
[ -x "$1" ] || {
  echo "there is no $1"
  exit 2
}
PATH=$PATH:$(dirname "$1") "$1" -sass -arch "$3" -fun "$4" "$2" | awk '
  function hex(text,  i, value) {
    value = 0
    for (i = 3; i <= length(text); ++i) value = 16 * value + index("0123456789abcdef", substr(text, i, 1)) - 1
    return value
  }
  function check(  i, j, k, inner) {
    for (i = 0; i < jumps; ++i) {
      # What lies behind the last exit jumps back to where it was called from.
      inner = from[i] < last_exit
      for (j = 0; j < jumps && inner; ++j) inner = j == i || from[j] < to[i] || from[j] > from[i] || to[j] <= to[i]
      if (!inner) continue
      ++loops
      for (k = 0; k < locals; ++k) {
        if (at[k] < to[i] || at[k] > from[i]) continue
        printf "    the loop from %x to %x has %s\n", to[i], from[i], what[k]
        ++found
        break
      }
    }
  }
  BEGIN {jumps = locals = loops = found = lines = last_exit = 0}
  /^ +\/\*[0-9a-f]+\*\/ / {
    ++lines
    here = hex("0x" substr($1, 3, length($1) - 4))
    if (match($0, / (LDL|STL)[. ][^;]*\[R1[^0-9][^;]*/)) {
      at[locals] = here
      what[locals++] = substr($0, RSTART + 1, RLENGTH - 1)
    }
    if ($0 ~ / EXIT *;/) last_exit = here
    if (match($0, / BRA[^;]* 0x[0-9a-f]+/)) {
      text = substr($0, RSTART, RLENGTH)
      sub(/.* /, "", text)
      if (hex(text) < here) {
        from[jumps] = here
        to[jumps++] = hex(text)
      }
    }
  }
  END {
    if (lines == 0) {
      print "there is no such kernel"
      exit 2
    }
    check()
    printf "    %d innermost loops, %d of them with spilled registers\n", loops, found
    exit found > 0
  }'
