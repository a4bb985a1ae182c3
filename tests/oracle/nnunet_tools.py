# SPDX-License-Identifier: Apache-2.0
"""nnunet_tools.py VERB ...: nnU-Net's own code, run by its environment's Python.

  export FOLDER CASE LOGITS.npy SEED   writes a prediction the way nnUNetv2_predict --save_probabilities does
  ensemble OUT IN...                   nnUNetv2_ensemble
  evaluate TRUTH FOLDER                nnUNetv2_evaluate_folder, into FOLDER/summary.json
"""

import json
import os
import sys
from pathlib import Path

os.environ.setdefault("nnUNet_raw", "raw")
os.environ.setdefault("nnUNet_preprocessed", "preprocessed")
os.environ.setdefault("nnUNet_results", "results")

# pylint: disable=import-error, wrong-import-position
import nibabel
import numpy as np
from nnunetv2.ensembling.ensemble import ensemble_folders
from nnunetv2.evaluation.evaluate_predictions import compute_metrics_on_folder2
from nnunetv2.inference.export_prediction import export_prediction_from_logits
from nnunetv2.utilities.plans_handling.plans_handler import PlansManager


def export(folder, case, logits_file, image):
    """A prediction of the part of an image that nnU-Net looks at: its first slice is cropped away."""
    folder = Path(folder)
    plans = PlansManager(str(folder / "plans.json"))
    dataset = json.loads((folder / "dataset.json").read_text())
    _, properties = plans.image_reader_writer_class().read_images([image])
    logits = np.load(logits_file)
    whole = tuple(nibabel.load(image).shape[::-1])
    properties.update(shape_before_cropping=whole,
                      shape_after_cropping_and_before_resampling=logits.shape[1:],
                      bbox_used_for_cropping=[[1, whole[0]], [0, whole[1]], [0, whole[2]]])
    export_prediction_from_logits(logits, properties, plans.get_configuration("3d_fullres"), plans,
                                  dataset, str(folder / case), True, 1)


if __name__ == "__main__":
    verb, *arguments = sys.argv[1:]
    if verb == "export":
        while arguments:
            export(*arguments[:4])
            arguments = arguments[4:]
    elif verb == "ensemble":
        ensemble_folders(arguments[1:], arguments[0], save_merged_probabilities=True,
                         num_processes=1)
    else:
        truth, predicted = arguments
        compute_metrics_on_folder2(truth, predicted, predicted + "/dataset.json",
                                   predicted + "/plans.json", num_processes=1)
