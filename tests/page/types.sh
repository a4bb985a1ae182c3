#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# types.sh ENVIRONMENT WEB: the modules of the page, type-checked by their comments, and a wrong one
# that the check must find.
set -euo pipefail

tsc=("$1/node_modules/.bin/tsc" --noEmit --checkJs --allowJs --strict --target es2022 --module es2022
  --moduleResolution bundler --lib "es2022,dom,dom.iterable" --types "")
"${tsc[@]}" "$2/main.js"

wrong=$(mktemp -d)
trap 'rm -rf "$wrong"' EXIT
cp "$2"/*.js "$wrong"
echo 'levelProbability("much");' >>"$wrong/planes.js"
if "${tsc[@]}" "$wrong/main.js" >/dev/null; then
  echo "types.sh: a wrong argument was not found" >&2
  exit 1
fi
