#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD_DIR CXX: installs the build into a fresh prefix, moves that, and builds and runs the
# consumer against it, once by find_package and once by pkg-config.
set -euo pipefail

build=$1
cxx=$2
here=$(cd "$(dirname "$0")" && pwd)
scratch=$build/consumer
prefix=$scratch/moved
rm -rf "$scratch"

cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
mv "$scratch/prefix" "$prefix"  # nothing installed may remember where it was
export LD_LIBRARY_PATH=$prefix/lib PKG_CONFIG_PATH=$prefix/lib/pkgconfig

configure() {
  cmake -S "$here" -B "$scratch/$1" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_CXX_COMPILER="$cxx" -DSEGCAL_WANTED="$2" >"$scratch/$1.log" 2>&1
}

show_log_and_fail() {
  cat "$scratch/$1.log"
  exit 1
}

echo "find_package"
configure by_cmake 0.1 || show_log_and_fail by_cmake
cmake --build "$scratch/by_cmake" >>"$scratch/by_cmake.log" || show_log_and_fail by_cmake
"$scratch/by_cmake/consumer" "$scratch/by_cmake.json"

echo "find_package refuses another major version"
if configure other_major 99; then
  echo "version 99 was accepted"
  exit 1
fi
grep -q 'requested version "99"' "$scratch/other_major.log"

echo "pkg-config"
read -ra flags <<<"$(pkg-config --cflags segcal)"
libs=$(pkg-config --libs segcal)
if [[ -e $prefix/lib/libsegcal.a ]]; then
  libs=${libs/-lsegcal/-Wl,--whole-archive -lsegcal -Wl,--no-whole-archive}
fi
read -ra libs <<<"$libs"
"$cxx" -std=c++20 "${flags[@]}" "$here/main.cc" -o "$scratch/by_pkg_config" "${libs[@]}"
"$scratch/by_pkg_config" "$scratch/by_pkg_config.json"
