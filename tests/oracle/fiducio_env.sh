#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fiducio_env.sh FOLDER: a virtual environment FOLDER/env with the package fiducio from PyPI, which
# sees Debian's PyTorch, and FOLDER/research_reference.json, the values that its authors keep beside
# the sources. For tests; does nothing when it is there, and leaves nothing where it fails.
set -euo pipefail

folder=$1
[[ -f $folder/research_reference.json ]] && exit 0
mkdir -p "$(dirname "$folder")"
new=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$new"' EXIT

/usr/bin/python3 -m venv --system-site-packages "$new/env"
pip=("$new/env/bin/python" -m pip --quiet --disable-pip-version-check --retries 1 --timeout 20)
"${pip[@]}" install --no-deps fiducio
"${pip[@]}" download --no-deps --no-binary fiducio --dest "$new/source" fiducio
tar -xzf "$new"/source/fiducio-*.tar.gz -C "$new" --strip-components=3 \
  --wildcards '*/tests/fixtures/research_reference.json'
rm -rf "$new/source" "$folder"
mv "$new" "$folder"
