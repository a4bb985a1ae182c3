#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bench/compare_cityscapes.sh FOLDER: how long the main paper's protocol takes on data of the size of Cityscapes:
# three repeats on 50 + 50 + 50 simulated cases of 1024 x 2048 voxels and 20 classes, within 4 GiB. Prints seconds and
# peak memory of the whole, and seconds by what they were spent on. Simulates first unless FOLDER has the data:
# 12.6 GB of float16. A run that was stopped goes on.
#
#   SEGCAL_PROGRAM  the program (default: build/release/segcal)
#   CASES, SIZE     150, 1024x2048; a tenth of it: SIZE=324x648
#   PIPELINES       "paper" also has the trained rows; default: its others
#   MEMORY          4G
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
[ $# -eq 1 ] || { echo "usage: bench/compare_cityscapes.sh FOLDER" >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
segcal=${SEGCAL_PROGRAM:-$root/build/release/segcal}
[ -x "$segcal" ] || { echo "$segcal: no such program; build it, or set SEGCAL_PROGRAM" >&2; exit 2; }

if [ ! -f "$out/data/dataset.json" ]; then
  "$segcal" simulate "$out/data" --preset street --cases "${CASES:-150}" --classes 20 --size "${SIZE:-1024x2048}" \
    --correlation 6 --dtype float16 --seed 1
fi
# The rows of `paper` without those that are trained.
untrained="ms(z) dc(z) ms_c(z) cdc(p) cms_ap(p) cms_op(p) cdc(z) cms_ap(z) cms_op(z) ts(p) ts(z) ets(p) ets(z) dc(p)"
options=()
for pipeline in ${PIPELINES:-$untrained}; do options+=(-p "$pipeline"); done
du -shL "$out/data" | sed 's/^/data: /'
free -h | awk '/Mem:/ {print "machine: " $2 " of memory, " $6 " of it cache"}'
/usr/bin/time -f "whole: %e s, %U s of processor time, at most %M KiB resident" \
  "$segcal" compare "$out/data" "${options[@]}" --repeats 3 --split 50,50,50 --memory "${MEMORY:-4G}" \
  -o "$out/study" --resume --quiet > "$out/table.txt"
python3 "$root/bench/study_profile.py" "$out/study"
