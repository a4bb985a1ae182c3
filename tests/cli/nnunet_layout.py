# SPDX-License-Identifier: Apache-2.0
"""Folders as nnU-Net 2.8 lays them out, with random predictions."""

import json
import pickle
from pathlib import Path

import nibabel
import numpy as np

NAME = "Dataset004_Hippocampus"
LABELS = {"background": 0, "anterior": 1, "posterior": 2}
# Axes that are neither in the order nor of the sign of the array's, an origin, three spacings.
AFFINE = np.array([[-1.5, 0, 0, 10], [0, 0, 2.0, -20], [0, 3.0, 0, 30], [0, 0, 0, 1.0]])
SPACING = (2.0, 3.0, 1.5)  # z, y, x


def softmax_case(rng, shape=(5, 6, 7), num_classes=3):
    """Overconfident probabilities (C, Z, Y, X) in float32, and labels drawn from softer ones."""
    logits = rng.normal(0.0, 3.0, (num_classes, *shape))
    labels = np.argmax(0.6 * logits + rng.gumbel(size=logits.shape), axis=0).astype(np.uint8)
    exponentials = np.exp(logits - logits.max(0))
    return (exponentials / exponentials.sum(0)).astype(np.float32), labels


def save_label_map(path, labels, affine=AFFINE):
    """A label map (Z, Y, X) as NIfTI, whose axes are (X, Y, Z)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(labels.T.astype(np.uint8), affine), path)


def load_label_map(path):
    """The label map (Z, Y, X) and the affine of a NIfTI file."""
    image = nibabel.load(path)
    return np.asarray(image.dataobj).T, image.affine


def save_prediction(folder, case, probabilities, affine=AFFINE):
    """<case>.npz, .pkl and .nii.gz, as nnU-Net exports a prediction with its probabilities."""
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / f"{case}.npz", probabilities=probabilities)
    properties = {"spacing": list(SPACING), "nibabel_stuff": {"original_affine": affine}}
    (folder / f"{case}.pkl").write_bytes(pickle.dumps(properties))
    save_label_map(folder / f"{case}.nii.gz", probabilities.argmax(0), affine)


def save_description(folder, labels=None, configurations=None, **fields):
    """dataset.json, with further fields, and plans.json beside predictions or folds."""
    folder.mkdir(parents=True, exist_ok=True)
    dataset = {"channel_names": {"0": "MRI"}, "labels": labels or LABELS, "numTraining": 6,
               "file_ending": ".nii.gz", **fields}
    (folder / "dataset.json").write_text(json.dumps(dataset))
    plans = {"dataset_name": NAME, "plans_name": "nnUNetPlans",
             "image_reader_writer": "NibabelIO", "label_manager": "LabelManager",
             "transpose_forward": [0, 1, 2], "transpose_backward": [0, 1, 2],
             "configurations": configurations or {}}
    (folder / "plans.json").write_text(json.dumps(plans))


def trained_model(root, num_cases=6, num_folds=3, seed=1, shape=(5, 6, 7)):
    """nnUNet_results and nnUNet_raw of a model trained with --npz; returns the model's folder."""
    rng = np.random.default_rng(seed)
    model = Path(root) / "nnUNet_results" / NAME / "nnUNetTrainer__nnUNetPlans__3d_fullres"
    save_description(model)
    for k in range(num_cases):
        probabilities, labels = softmax_case(rng, shape)
        fold = model / f"fold_{k % num_folds}" / "validation"
        save_prediction(fold, f"hippocampus_{k:03}", probabilities)
        (fold / "summary.json").write_text("{}")
        save_label_map(Path(root) / "nnUNet_raw" / NAME / "labelsTr" / f"hippocampus_{k:03}.nii.gz",
                       labels)
    return model


def new_predictions(root, names=("fold_0", "fold_1"), num_cases=3, seed=2, shape=(5, 6, 7)):
    """Predictions of the same new cases by several folds; returns their folders."""
    rng = np.random.default_rng(seed)
    cases = [softmax_case(rng, shape)[0] for _ in range(num_cases)]
    for name in names:
        save_description(Path(root) / name)
        for k, base in enumerate(cases):
            noisy = base ** rng.uniform(0.8, 1.2, base.shape)
            noisy = (noisy / noisy.sum(0)).astype(np.float32)
            save_prediction(Path(root) / name, f"new_{k}", noisy)
    return [Path(root) / name for name in names]
