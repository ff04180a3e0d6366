#!/usr/bin/env bash
# The table of errors refuses what is planted, and says of each what is wrong.   error_table.sh PYTHON SOURCE FOLDER
set -euo pipefail
planted=$2/tests/structure/planted/errors
if said=$("$1" "$2/scripts/cmake/error_table.py" "$planted" "$3" "$planted/errors_xx.json" 2>&1); then
  echo "what is planted was taken"
  exit 1
fi
for complaint in "twice stands in $planted/app/y/errors.h already" \
  "untranslated is missing: nobody says this" "there is no code nobody" \
  "otherwise has \['one', 'three'\], in English \['one', 'two'\]"; do
  grep -qE "$complaint" <<<"$said" || {
    printf 'nobody says: %s\n%s\n' "$complaint" "$said"
    exit 1
  }
done
[ "$(wc -l <<<"$said")" -eq 4 ] || {
  printf 'something else is said:\n%s\n' "$said"
  exit 1
}
