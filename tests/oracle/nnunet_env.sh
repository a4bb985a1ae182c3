#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# nnunet_env.sh FOLDER: a virtual environment FOLDER/env with nnU-Net from PyPI, which sees Debian's
# PyTorch, SciPy and nibabel. For tests; does nothing when it is there, and leaves nothing where it
# fails. About 420 MB, most of them SimpleITK.
set -euo pipefail

folder=$1
[[ -f $folder/complete ]] && exit 0
mkdir -p "$(dirname "$folder")"
new=$(mktemp -d "$folder.XXXXXX")
trap 'rm -rf "$new"' EXIT

/usr/bin/python3 -m venv --system-site-packages "$new/env"
# Without dependencies: what it needs beyond Debian's packages, and they can work with, is named here.
"$new/env/bin/python" -m pip --quiet --disable-pip-version-check --retries 1 --timeout 20 \
  install --no-deps 'nnunetv2==2.8.*' batchgenerators batchgeneratorsv2 acvl-utils \
  dynamic-network-architectures 'blosc2==2.5.1' ndindex msgpack py-cpuinfo 'scikit-image<0.25' \
  lazy_loader tifffile SimpleITK 'pandas<2' pytz python-dateutil six
"$new/env/bin/python" -c 'import nnunetv2.inference.export_prediction'
touch "$new/complete"
rm -rf "$folder"
mv "$new" "$folder"
