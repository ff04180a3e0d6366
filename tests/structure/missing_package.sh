#!/usr/bin/env bash
# missing_package.sh ROOT FOLDER: a package that is not there is one line that names it for three package managers, found
# by pkg-config or by CMake; any other trouble is told whole.
set -euo pipefail
root=$1 folder=$2
source "$root/scripts/setup.sh"
rm -rf "$folder"
mkdir -p "$folder"

# check EXPECTED COMMAND…: what scripts/run would print when the command configures.
check() {
  local expected=$1 said
  shift
  if "$@" cmake -G Ninja -S "$root/tests/structure/planted/missing_package" -B "$folder/build" -DROOT="$root" "${options[@]}" \
    >"$folder/log" 2>&1; then
    echo "was configured all the same"
    exit 1
  fi
  said=$(say_why_not_configured "$folder/log" 2>&1)
  if [ "$said" != "$expected" ]; then
    printf 'said: %s\nexpected: %s\n' "$said" "$expected"
    exit 1
  fi
}

options=()
check 'sqlite3 is missing: apt install libsqlite3-dev   (untried: dnf install sqlite-devel, pacman -S sqlite)' \
  env PKG_CONFIG_LIBDIR=/nonexistent PKG_CONFIG_PATH=
options=(-DCMAKE_DISABLE_FIND_PACKAGE_spdlog=ON)
check 'spdlog is missing: apt install libspdlog-dev   (untried: dnf install spdlog-devel, pacman -S spdlog)' env
printf 'one\ntwo\n' >"$folder/log"
[ "$(say_why_not_configured "$folder/log" 2>&1 | head -2)" = $'one\ntwo' ]
echo "missing packages are one line each"
