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
    -DCMAKE_CXX_COMPILER="$cxx" -DSEGCAL_WANTED="$2" -DSEGCAL_SNIPPETS="$scratch/snippets" \
    >"$scratch/$1.log" 2>&1
}

show_log_and_fail() {
  cat "$scratch/$1.log"
  exit 1
}

python3 "$here/readme_snippets.py" "$here/../.." "$scratch/snippets"

echo "find_package"
configure by_cmake 0.2 || show_log_and_fail by_cmake
cmake --build "$scratch/by_cmake" >>"$scratch/by_cmake.log" || show_log_and_fail by_cmake
"$scratch/by_cmake/consumer" "$scratch/by_cmake.json"

echo "models of arrays in memory are the program's, byte for byte"
"$scratch/by_cmake/consumer_memory" "$scratch/memory" >"$scratch/memory.log" || show_log_and_fail memory
"$prefix/bin/segcal" fit "$scratch/memory" -p 'cms_ap(z)' -o "$scratch/memory/program.json" >/dev/null
for model in half strided mixed; do cmp "$scratch/memory/$model.json" "$scratch/memory/program.json"; done
# The data set of docs/cpp.md has a name of its own.
sed 's/"name": "mine"/"name": ""/' "$scratch/memory/memory.json" | cmp - "$scratch/memory/program.json"

echo "from C"
"$scratch/by_cmake/consumer_c" "$scratch/memory/program.json"
if [[ -e $prefix/lib/libsegcal.so ]]; then
  python3 "$here/ctypes_check.py" "$prefix/lib/libsegcal.so" "$scratch/memory/program.json"
fi

# Until 1.0 a minor version may change the interface.
for version in 99 0.1; do
  echo "find_package refuses version $version"
  if configure other_version "$version"; then
    echo "version $version was accepted"
    exit 1
  fi
  grep -q "requested version \"$version\"" "$scratch/other_version.log"
done

if [[ -e $prefix/lib/libsegcal.so ]]; then
  echo "the shared library shows what the headers mark, and nothing else"
  python3 "$here/exports.py" "$prefix/lib/libsegcal.so" "$prefix/include"
fi

echo "pkg-config"
read -ra flags <<<"$(pkg-config --cflags segcal)"
libs=$(pkg-config --libs segcal)
if [[ -e $prefix/lib/libsegcal.a ]]; then
  libs=${libs/-lsegcal/-Wl,--whole-archive -lsegcal -Wl,--no-whole-archive}
fi
read -ra libs <<<"$libs"
"$cxx" -std=c++20 "${flags[@]}" "$here/main.cc" -o "$scratch/by_pkg_config" "${libs[@]}"
"$scratch/by_pkg_config" "$scratch/by_pkg_config.json"
