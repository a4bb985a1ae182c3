# SPDX-License-Identifier: Apache-2.0
"""Data sets from files, and folders of nnU-Net in and out: the files of the program, byte for byte."""

import sys

import numpy as np
import pytest
import segcal
from data import SOURCE, draw, run, write_dataset

sys.path.insert(0, str(SOURCE / "tests" / "cli"))
from nnunet_layout import new_predictions, trained_model  # noqa: E402  pylint: disable=wrong-import-position


def test_index_writes_the_file_of_the_program(tmp_path):
    write_dataset(tmp_path, *draw((4, 3, 12, 12)))
    run("index", tmp_path / "program.json", "--members", f"{tmp_path}/z{{case}}.npy", "--labels",
        f"{tmp_path}/y{{case}}.npy", "--input", "logits", "--split", "calibration=0.5,test=0.5", "--seed", 3)
    data = segcal.index(tmp_path / "package.json", f"{tmp_path}/z{{case}}.npy", labels=f"{tmp_path}/y{{case}}.npy",
                        input="logits", splits={"calibration": 0.5, "test": 0.5}, seed=3)
    assert (tmp_path / "package.json").read_bytes() == (tmp_path / "program.json").read_bytes()
    assert len(data) == 4 and len(data.split("test")) == 2
    with pytest.raises(TypeError, match="nope"):
        segcal.index(tmp_path / "x.json", "z{case}.npy", input="logits", nope=1)


def test_folders_of_nnunet(tmp_path):
    folder = trained_model(tmp_path)
    run("index", tmp_path / "program.json", "--nnunet", folder)
    data = segcal.index_nnunet(tmp_path / "package.json", folder)
    assert (tmp_path / "package.json").read_bytes() == (tmp_path / "program.json").read_bytes()
    model = segcal.fit(data, None, "ts")
    predicted, = new_predictions(tmp_path, ["predicted"])
    model.apply_nnunet(predicted, tmp_path / "calibrated")
    model.save(tmp_path / "ts.json")
    run("apply", tmp_path / "ts.json", "--nnunet", predicted, tmp_path / "program")
    names = sorted(path.name for path in (tmp_path / "program").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "calibrated").iterdir())
    for name in names:
        assert (tmp_path / "calibrated" / name).read_bytes() == (tmp_path / "program" / name).read_bytes()
    with np.load(predicted / "new_0.npz") as given, np.load(tmp_path / "calibrated" / "new_0.npz") as made:
        np.testing.assert_array_equal(given["probabilities"].argmax(0), made["probabilities"].argmax(0))
