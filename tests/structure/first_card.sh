#!/usr/bin/env bash
# first_card.sh ROOT BUILD FOLDER: the kit for the first card, packed and run where there is none: every step, in tiny
# shapes on the device that executes the kernels' PTX; what needs a card's tools says "not here". And what a step says
# that hangs, of what is not as expected, and of a step that there is not.
set -euo pipefail
root=$1 build=$2 folder=$3
rm -rf "$folder"
mkdir -p "$folder"

"$root/scripts/first_card" pack --dry --built "$build" "$folder/kit.tar.gz"
tar -C "$folder" -xzf "$folder/kit.tar.gz"
kit=$folder/first_card
[ "$("$kit/first_card" steps | wc -l)" = 10 ]

# Nothing of this machine but what every system has: no other library than those in the kit.
code=0
"$kit/first_card" run --out "$folder/results" all >"$folder/said" 2>"$folder/errors" || code=$?
cat "$folder/said"
python3 - "$folder/results" "$("$kit/first_card" steps)" <<'EOF'
import json, pathlib, sys
folder, steps = pathlib.Path(sys.argv[1]), sys.argv[2].split()
found = {step: json.loads((folder / f"{step}.json").read_text()) for step in steps}
missing = {"device": ["nvidia-smi", "cuBLAS"], "selftest": ["cuBLAS"], "memcheck": ["compute-sanitizer"],
           "kernels": ["nvidia-smi", "ncu"], "decode": ["nvidia-smi"], "prefill": ["nvidia-smi"], "storm": ["nvidia-smi"],
           "processor": ["nvidia-smi"], "streaming": ["nvidia-smi"]}
for step, one in found.items():
    assert one["step"] == step and one["dry"] and one["as_expected"], one
    assert one["not_here"] == missing.get(step, []), one["not_here"]
    assert one["runs"] and all(run.get("code") == 0 for run in one["runs"]), one["runs"]
parts = [part["name"] for part in found["selftest"]["runs"][0]["result"]["parts"]]
assert {"linear", "feed_forward", "attention", "router", "top_k"} <= set(parts), parts
assert all(0 <= part["worst"] <= 1 for part in found["selftest"]["runs"][0]["result"]["parts"])
names = [case["name"] for case in found["kernels"]["runs"][0]["result"]["cases"]]
for word in ("linear Q4_0", "linear IQ4_XS", "router", "attention", "top_k"):
    assert any(name.startswith(word) for name in names), (word, names)
decoded = [run["result"] for run in found["decode"]["runs"]]
assert all(one["dense_tier"] == "q4" and [d["context"] for d in one["decode"]] == [8, 32] for one in decoded)
assert ["pieces_ms" in one["decode"][0] for one in decoded] == [True] * 4 + [False]  # the fifth has no graphs
assert [p["tokens"] for p in found["prefill"]["runs"][0]["result"]["prefill"]] == [9, 16]
EOF
[ "$code" = 0 ]

# A program that hangs is ended, and the next step comes; what is expected and missing is said.
printf '#!/bin/sh\nsleep 300 &\necho $! >>"%s"\nwait\n' "$folder/left" >"$kit/bin/fovea"
echo 'ceiling node_us > 1e9' >>"$kit/first_card.expected"
code=0
"$kit/first_card" run --out "$folder/planted" --limit 6 device prefill >"$folder/said" 2>/dev/null || code=$?
[ "$code" = 1 ]
code=0
"$kit/first_card" run --out "$folder/planted" ceiling >>"$folder/said" 2>/dev/null || code=$?
[ "$code" = 1 ]
cat "$folder/said"
grep -q '^device: NOT as expected' "$folder/said"
grep -q '^  usable_gpus is 0, expected >= 1$' "$folder/said"
grep -q '^prefill: NOT as expected' "$folder/said"
grep -q '^  tok_per_s is nothing, expected > 0$' "$folder/said"
grep -qE '^  node_us is [0-9.e+]+, expected > 1e9$' "$folder/said"
grep -qE 'ended after [56] s, or by a signal' "$folder/planted/prefill.json"
grep -q "nothing is left of the step's 6 s" "$folder/planted/device.json"
while read -r process; do
  if grep -q '^State:[[:space:]]*[RSD]' "/proc/$process/status" 2>/dev/null; then
    echo "what a command has started goes on"
    exit 1
  fi
done <"$folder/left"
code=0
"$kit/first_card" run nothing 2>"$folder/said" || code=$?
[ "$code" = 2 ]
grep -q 'there is no step nothing: device ceiling' "$folder/said"
echo "every step was run"
