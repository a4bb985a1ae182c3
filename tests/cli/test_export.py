# SPDX-License-Identifier: Apache-2.0
"""`segcal export` as a person meets it; what its graphs compute is compared in tests/oracle/test_onnx.py."""

import pytest
from program import fails, fit, run, small_dataset


@pytest.fixture(scope="module", name="model")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    fit(small_dataset(folder / "data"), "cms_ap(z)", folder / "model.json")
    return folder / "model.json"


def test_says_what_it_wrote(model, tmp_path):
    done = run("export", model, "-o", tmp_path / "graph.onnx")
    assert done.stdout == f"cms_ap(z): wrote {tmp_path / 'graph.onnx'}\n"
    assert done.stderr == ""


def test_writes_the_same_bytes_again(model, tmp_path):
    for name in ("one", "two"):
        run("export", model, "-o", tmp_path / name, "--members", 2, "--axes", 3, "--dtype", "f16")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("options, said", [
    (["--outputs", "entropy"], 'a graph cannot put out "entropy"; there are probabilities, labels, confidence'),
    (["--outputs", "labels,labels"], 'output "labels" is given twice'),
    (["--members", "0"], "members is 0, 1 to 1000 is required"),
    (["--opset", "12"], "opset is 12, 13 to 28 is required"),
    (["--axes", "4"], "--axes"),
    (["--dtype", "f64"], "--dtype"),
    (["--output-name", "logits"], "--append-to"),
])
def test_wrong_options_are_named(model, tmp_path, options, said):
    assert said in fails(2, "export", model, "-o", tmp_path / "graph.onnx", *options)
    assert not (tmp_path / "graph.onnx").exists()


def test_files_that_do_not_do_are_named(model, tmp_path):
    graph = tmp_path / "graph.onnx"
    assert "missing.json" in fails(4, "export", tmp_path / "missing.json", "-o", graph)
    (tmp_path / "broken.json").write_text("{}")
    assert "broken.json" in fails(3, "export", tmp_path / "broken.json", "-o", graph)
    assert "nowhere" in fails(4, "export", model, "-o", tmp_path / "nowhere/graph.onnx")
    assert "broken.json" in fails(3, "export", model, "--append-to", tmp_path / "broken.json", "-o", graph)
    assert not graph.exists()


def test_calibrator_is_put_behind_a_graph_of_ours(model, tmp_path):
    """A network is any ONNX file: also one that was exported here."""
    run("export", model, "-o", tmp_path / "first.onnx", "--prefix", "first_")
    said = fails(2, "export", model, "--append-to", tmp_path / "first.onnx", "-o", tmp_path / "both.onnx")
    assert 'no output "logits"; its outputs are first_probabilities' in said
    done = run("export", model, "--append-to", tmp_path / "first.onnx", "--output-name", "first_probabilities", "-o",
               tmp_path / "both.onnx")
    assert 'with the calibrator behind "first_probabilities"' in done.stdout
    assert (tmp_path / "both.onnx").stat().st_size > (tmp_path / "first.onnx").stat().st_size
