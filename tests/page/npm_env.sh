#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# npm_env.sh FOLDER: FOLDER/node_modules with the packages that tests of the page use, from npm. Does
# nothing when it is there, and leaves nothing where it fails.
set -euo pipefail

folder=$1
packages=(playwright-core@1.65.1 typescript@7.0.2)
[[ -f $folder/packages && $(<"$folder/packages") == "${packages[*]}" ]] && exit 0
mkdir -p "$(dirname "$folder")"
new=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$new"' EXIT

npm install --prefix "$new" --no-save --no-audit --no-fund --loglevel=error "${packages[@]}"
echo "${packages[*]}" >"$new/packages"
rm -rf "$folder"
mv "$new" "$folder"
