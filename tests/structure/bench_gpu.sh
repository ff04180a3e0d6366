#!/usr/bin/env bash
# bench_gpu.sh ROOT PROGRAM FOLDER: the report that scripts/bench_gpu makes of a GPU, here of the processor with a small
# shape: every section is there, what does not fit says so, a second run adds to the first, and a program that computes
# wrongly or does not start is told.
set -euo pipefail
root=$1 program=$2 folder=$3
rm -rf "$folder"
mkdir -p "$folder"
cat >"$folder/small.json" <<'SHAPE'
{"layers": 2, "hidden": 128, "heads": 4, "kv_heads": 2, "head_dim": 32, "vocabulary": 256, "context": 512, "experts": 8,
 "experts_used": 2, "expert_width": 64, "qk_norm": true}
SHAPE
report=$folder/out/report.md

bench() {
  "$root/scripts/bench_gpu" --device cpu --shape "$folder/small.json" --contexts 8,32 --prompts 16 --budgets 1000,2MB -n 8 \
    -r 1 --out "$folder/out" "$@" >"$folder/said" 2>"$folder/errors" && return
  code=$?
}
# expect TEXT FILE: a fixed text that a line holds.
expect() {
  grep -qF -- "$1" "$2" && return
  printf 'expected in %s: %s\n' "$2" "$1"
  cat "$2" "$folder/errors"
  exit 1
}

code=0
bench --fovea "$program"
[ "$code" = 0 ] || {
  cat "$folder/errors"
  exit 1
}
expect 'all pass' "$report"
expect 'compute-sanitizer watches GPUs, and cpu is none' "$report"
expect '| decode behind 32 tokens, dense q8 | 60 % of the bandwidth, or what limits it |' "$report"
expect '| prefill of 16 tokens, dense q8 |' "$report"
for mode in 'static q4' 'static q2' dynaexq; do
  grep -qE "^\| 1000 \| $mode \| does not fit, needs 0\.[0-9]+ MB \|" "$report"
done
grep -qE '^\| 2MB \| dynaexq \| [0-9.]+ \| [0-9.]+ \| [0-9]+ of 8 \|' "$report"
expect '| swap storm within 2MB, dense q8 | p99 ≤ 1.05 × median | nothing moved: every expert is at q4 |' "$report"
expect 'Not run: --peer was not given' "$report"
grep -qE '^\| within 2MB, dense q8 \| static q4, static q2, dynaexq \| [0-9.]+ tok/s; [0-9.]+ tok/s; [0-9.]+ tok/s, [0-9.]+ bits \|' \
  "$folder/said"
expect '--tiers q4,q2 --budget 2MB' "$report"
python3 -c 'import json, sys; assert set(json.load(open(sys.argv[1]))) == {"machine", *sys.argv[2:]}' \
  "$folder/out/results.json" selftest sanitizers speed budgets hybrid cublas peer
expect 'Not run: cpu has no processor beside it' "$report"
expect 'Not run: cuBLAS is for GPUs, and cpu is none' "$report"

# A budget that the card has not is no fault; a command that takes too long is ended with what it has started.
cat >"$folder/planted" <<'PLANTED'
#!/bin/sh
echo "budget: 24000000000 bytes are more than the 16000000000 that cuda:0 has free beside other programs. Give less" >&2
exit 1
PLANTED
chmod +x "$folder/planted"
bench --fovea "$folder/planted" --only budgets --out "$folder/other"
[ "$code" = 0 ]
expect '| 2MB | dynaexq | the card has 16.00 GB free |' "$folder/other/report.md"
printf '#!/bin/sh\nsleep 60 &\necho $! >"%s"\nwait\n' "$folder/left" >"$folder/planted"
bench --fovea "$folder/planted" --only selftest --limit 2 --out "$folder/other"
[ "$code" = 1 ]
expect 'ended after 2 s (--limit)' "$folder/other/report.md"
if grep -q '^State:[[:space:]]*[RSD]' "/proc/$(cat "$folder/left")/status" 2>/dev/null; then
  echo "what a command has started goes on"
  exit 1
fi
code=0

# What is planted in one step is told, and the others' results stay.
printf '#!/bin/sh\necho "the planted program ends" >&2\nexit 3\n' >"$folder/broken"
chmod +x "$folder/broken"
bench --fovea "$folder/broken" --only selftest
[ "$code" = 1 ]
expect 'selftest --device cpu --json: the planted program ends' "$report"
expect '| prefill of 16 tokens, dense q8 |' "$report"
echo '{"device": "cpu", "instruction_set": "x", "passed": false, "checks": 7, "failed": 2, "seconds": 1,
 "parts": [{"name": "operations", "checks": 7, "failed": 2, "faults": ["a planted fault"]}]}' >"$folder/answer"
printf '#!/bin/sh\ncat "%s"\nexit 1\n' "$folder/answer" >"$folder/broken"
code=0
bench --fovea "$folder/broken" --only selftest
[ "$code" = 1 ]
expect '| `fovea selftest` | all pass | 5 of 7 | **missed** |' "$report"
expect 'operations: a planted fault' "$report"

# llama.cpp is built for the card and a model of the shape is made, where nobody brings them.
copy=$folder/copy/fovea shared=$folder/copy/shared/bench
mkdir -p "$copy/scripts" "$shared" "$folder/path"
cp "$root/scripts/bench_gpu" "$root/scripts/bench" "$copy/scripts"
printf '#!/bin/sh\necho 12.0\n' >"$folder/path/nvidia-smi"
cat >"$shared/llama.sh" <<'PLANTED'
mkdir -p "$1"
cat >"$1/llama-bench" <<'PEER'
#!/bin/sh
echo '[{"n_prompt": 512, "n_gen": 0, "avg_ts": 500}, {"n_prompt": 0, "n_gen": 8, "avg_ts": 40}]'
PEER
chmod +x "$1/llama-bench"
echo "$CUDA_ARCH" >"$1/architecture"
echo "$1"
PLANTED
echo 'import pathlib, sys; pathlib.Path(sys.argv[1]).write_text("made")' >"$shared/synthetic.py"
cat >"$folder/planted" <<'PLANTED'
#!/bin/sh
echo '{"prefill": {"tok_per_s": {"median": 1000}, "ceiling_share": 0.5}, "memory": {"weights": 1, "kv_cache": 1, "windows": 0, "states": 0},
  "decode": {"tok_per_s": {"median": 60}, "ceiling_share": 0.5}, "load_seconds": 1}'
PLANTED
chmod +x "$folder/path/nvidia-smi" "$folder/planted"
PATH=$folder/path:$PATH "$copy/scripts/bench_gpu" --fovea "$folder/planted" --only peer --peer build --shape small \
  --out "$folder/built" >"$folder/said" 2>"$folder/errors" || {
  cat "$folder/errors"
  exit 1
}
[ "$(cat "$folder/built/llama.cpp/architecture")" = 120 ]
[ "$(cat "$folder/built/small.gguf")" = made ]
expect '| decode beside llama.cpp | 2.0 × | 1.50 × (60.0 and 40.0 tok/s) | **missed** |' "$folder/said"
expect '| prefill beside llama.cpp | 1.2 × | 2.00 × (1000.0 and 500.0 tok/s) | met |' "$folder/said"

# A part left to the processor: each number of layers, each budget, in segments and in single calls.
cat >"$folder/planted" <<'PLANTED'
#!/bin/sh
case "$*" in
*"--n-cpu-moe 3 "*) echo "budget: 5 bytes (5 bytes) is too small for cuda:0: the model and its context take 7 (7000000 bytes)" >&2
  exit 1 ;;
esac
echo '{"decode": [{"context": 8, "tok_per_s": {"median": 50}, "token_ms": {"median": 20, "p90": 21, "p99": 22},
  "pieces_ms": {"median": 25, "p90": 26, "p99": 27}}], "prefill": [{"tokens": 512, "tok_per_s": {"median": 700}}],
  "host_bytes_per_token": 400000000, "host_gb_per_s": 40}'
PLANTED
PATH=$folder/path:$PATH "$copy/scripts/bench_gpu" --fovea "$folder/planted" --only hybrid --host-layers 2,3 --budgets 2MB \
  --shape small --out "$folder/hybrid" >"$folder/said" 2>"$folder/errors" || {
  cat "$folder/errors"
  exit 1
}
expect '| 2 layers | 50.0 | 20.00 / 21.00 / 22.00 | 25.00 / 26.00 / 27.00 | 0.40 GB | 50 % | 700.0 |' \
  "$folder/hybrid/report.md"
expect '| 3 layers | does not fit, needs 7.00 MB |' "$folder/hybrid/report.md"
expect '--n-cpu-moe auto --budget 2MB' "$folder/hybrid/report.md"
expect '| 50.0 tok/s, 20.00 ms in segments, 25.00 in single calls |' "$folder/said"
echo "the report says what was found"
