#!/usr/bin/env bash
# run.sh BUILD ARGUMENTS…: the program with a device cuda:0 that executes the kernels' PTX on the processor. Some thousand
# times slower than a card; `run.sh build/release chat demo -p "Hello" --max-tokens 4 --device cuda:0` takes minutes.
# With FOVEA_PTX_CARDS=2 there is a cuda:1, too.
set -euo pipefail
folder=$1/ptx
shift
cp -u "$folder/../fovea" "$folder/fovea"
FOVEA_CUBLAS=off LD_LIBRARY_PATH=$folder exec "$folder/fovea" "$@"
