# SPDX-License-Identifier: Apache-2.0
"""Calibrate a network whose outputs are NumPy arrays, and look at what it gained.

    python examples/calibrate_arrays.py [FOLDER]
"""

import pathlib
import sys

import numpy as np
import segcal

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "calibrated_arrays")
folder.mkdir(exist_ok=True)

# In place of a network: logits (N, C, H, W) that are twice too confident, and labels (N, H, W).
rng = np.random.default_rng(0)
logits = rng.normal(0, 3, (8, 4, 96, 128)).astype(np.float32)
labels = (logits / 2 + rng.gumbel(size=logits.shape)).argmax(1).astype(np.uint8)

# Fit on images the network was not trained on; keep others to see whether it helped.
model = segcal.fit(logits[:5], labels[:5], "cms_ap")
print(model, "-", model.report.status)
model.save(folder / "model.json")

result = segcal.evaluate(["none(z)", model], logits[5:], labels[5:], statistics=True)
print(result.table(["nll", "ece", "accuracy"]))
result.figure("reliability").save(folder / "reliability.svg")

# Ship it: the same labels, probabilities that mean what they say.
probabilities = segcal.load(folder / "model.json").predict_proba(logits[5:])
assert (probabilities.argmax(1) == logits[5:].argmax(1)).all()
