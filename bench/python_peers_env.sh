#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# python_peers_env.sh FOLDER [WHEEL]: environments for bench/python_peers.py. FOLDER/torch sees Debian's PyTorch and has fiducio,
# netcal and torchmetrics from PyPI without their dependencies (a full PyTorch is gigabytes); FOLDER/sklearn has a
# scikit-learn that knows temperature scaling; FOLDER/segcal has segcal, from a wheel of scripts/wheel.
set -euo pipefail

folder=$1
wheel=${2:-$(find build/wheels -name '*cp311*.whl' 2>/dev/null | head -n 1 || true)}
[[ -f $wheel ]] || { echo "python_peers_env.sh: no wheel for Python 3.11 in build/wheels: scripts/wheel makes it" >&2; exit 1; }
pip=(-m pip --quiet --disable-pip-version-check)
mkdir -p "$folder"

if [[ ! -e $folder/torch/complete ]]; then
  /usr/bin/python3 -m venv --system-site-packages --clear "$folder/torch"
  # pyro and gpytorch, which netcal imports, as they were when Debian's PyTorch was new.
  "$folder/torch/bin/python" "${pip[@]}" install --no-deps fiducio netcal torchmetrics lightning-utilities \
    'pyro-ppl<1.8.5' pyro-api 'gpytorch<1.10' linear-operator jaxtyping tikzplotlib webcolors tensorboard absl-py \
    opt-einsum wadler-lindig protobuf
  touch "$folder/torch/complete"
fi
if [[ ! -e $folder/sklearn/complete ]]; then
  /usr/bin/python3 -m venv --clear "$folder/sklearn"
  "$folder/sklearn/bin/python" "${pip[@]}" install 'scikit-learn>=1.8'
  touch "$folder/sklearn/complete"
fi
/usr/bin/python3 -m venv --clear "$folder/segcal"
"$folder/segcal/bin/python" "${pip[@]}" install "$wheel"
