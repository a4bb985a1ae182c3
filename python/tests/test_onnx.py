# SPDX-License-Identifier: Apache-2.0
"""ONNX graphs from Python are the files of `segcal export`; what they compute is tests/oracle/test_onnx.py's."""

import numpy as np
import pytest
import segcal
from data import draw, run


@pytest.fixture(name="model", scope="module")
def fixture_model():
    return segcal.fit(*draw((4, 3, 16, 16)), "cms_ap")


OPTIONS = {
    "as it is": ({}, []),
    "volumes": ({"spatial_axes": 3, "outputs": ["labels", "confidence"]}, ["--axes", 3, "--outputs", "labels,confidence"]),
    "members": ({"members": 2, "pool_dtype": "float32", "prefix": "a_"}, ["--members", 2, "--pool-in", "f32", "--prefix", "a_"]),
    "half": ({"dtype": np.float16, "opset": 17}, ["--dtype", "f16", "--opset", 17]),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_graph_is_that_of_the_program(model, case, tmp_path):
    given, flags = OPTIONS[case]
    model.save(tmp_path / "model.json")
    run("export", tmp_path / "model.json", "-o", tmp_path / "program.onnx", *flags)
    expected = (tmp_path / "program.onnx").read_bytes()
    assert model.to_onnx(**given) == expected
    assert model.to_onnx(tmp_path / "package.onnx", **given) is None
    assert (tmp_path / "package.onnx").read_bytes() == expected


def test_calibrator_behind_a_graph(model, tmp_path):
    """Any graph with an output of logits will do: here that of another calibrator."""
    first = segcal.fit(*draw((2, 3, 8, 8)), "ts")
    first.to_onnx(tmp_path / "segmenter.onnx")
    model.save(tmp_path / "model.json")
    run("export", tmp_path / "model.json", "--append-to", tmp_path / "segmenter.onnx", "--output-name", "probabilities",
        "--prefix", "b_", "--keep-output", "-o", tmp_path / "program.onnx")
    expected = (tmp_path / "program.onnx").read_bytes()
    given = {"output_name": "probabilities", "prefix": "b_", "keep_output": True}

    class Proto:
        """What onnx.ModelProto has."""

        @staticmethod
        def SerializeToString():  # pylint: disable=invalid-name
            return (tmp_path / "segmenter.onnx").read_bytes()
    for segmenter in (tmp_path / "segmenter.onnx", first.to_onnx(), Proto()):
        assert model.to_onnx(append_to=segmenter, **given) == expected
    model.to_onnx(tmp_path / "a.onnx", append_to=tmp_path / "segmenter.onnx", **given)
    model.to_onnx(tmp_path / "b.onnx", append_to=first.to_onnx(), **given)
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes() == expected


def test_what_does_not_fit_is_refused(model, tmp_path):
    with pytest.raises(ValueError, match="labels"):
        model.to_onnx(outputs=["entropy"])
    with pytest.raises(ValueError, match="13"):
        model.to_onnx(opset=9)
    with pytest.raises(ValueError, match="float64"):
        model.to_onnx(dtype=np.float64)
    with pytest.raises(ValueError, match="opset: given beside append_to"):
        model.to_onnx(append_to=b"", opset=13)
    with pytest.raises(ValueError, match="output_name: given without append_to"):
        model.to_onnx(output_name="logits")
    with pytest.raises(TypeError, match="ModelProto"):
        model.to_onnx(append_to=3)
    with pytest.raises(ValueError, match="segmenter"):
        model.to_onnx(append_to=b"no graph")
    with pytest.raises(OSError, match="gone"):
        model.to_onnx(append_to=tmp_path / "gone.onnx")
    with pytest.raises(OSError, match="nowhere"):
        model.to_onnx(tmp_path / "nowhere" / "x.onnx")
    assert not list(tmp_path.iterdir())
