#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cli.sh BUILD_DIR CXX: installs the build into a fresh prefix and builds the program's sources, alone in a
# folder of their own, against it. It must do what the program of the build does, and a header from inside
# the library must not be found.
set -euo pipefail

build=$1
cxx=$2
here=$(cd "$(dirname "$0")" && pwd)
scratch=$build/consumer_cli
prefix=$scratch/prefix
rm -rf "$scratch"
mkdir -p "$scratch"

cmake --install "$build" --prefix "$prefix" >/dev/null
rm "$prefix/bin/segcal"
cp -r "$here/../../cli" "$scratch/cli"
export LD_LIBRARY_PATH=$prefix/lib

compile() {
  cmake --build "$scratch/program" >"$scratch/log" 2>&1
}

show_log_and_fail() {
  cat "$scratch/log"
  exit 1
}

echo "the program against the installed library"
cmake -S "$scratch/cli" -B "$scratch/program" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
  -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_CXX_FLAGS=-O0 -DCMAKE_UNITY_BUILD=ON \
  -DCMAKE_UNITY_BUILD_BATCH_SIZE=0 >"$scratch/log" 2>&1 || show_log_and_fail
compile || show_log_and_fail

echo "does the same as that of the build"
cd "$scratch"
for program in "$build/segcal" "$scratch/program/segcal"; do
  "$program" fit --help >help.txt
  "$program" simulate data --preset roads --cases 3 --size 24x32 --quiet >summary.txt
  "$program" fit data -p 'ts(z)' -o model.json --quiet >/dev/null
  sha256sum help.txt summary.txt model.json >sums
  [[ ! -e first ]] || cmp first sums
  mv sums first
  rm -r data
done

echo "does not find a header from inside the library"
sed -i '2i #include "core/file.h"' "$scratch/cli/throw.h"
if compile; then
  echo "core/file.h was found"
  exit 1
fi
grep -q 'core/file.h' "$scratch/log"
