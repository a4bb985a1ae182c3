# SPDX-License-Identifier: Apache-2.0
"""No call writes over what it reads, or over a file of another kind, unless told `force=True`."""

import pytest
import segcal
from data import draw, write_dataset


@pytest.fixture(name="files")
def fixture_files(tmp_path):
    logits, labels = draw((3, 3, 12, 12))
    return tmp_path, write_dataset(tmp_path / "data", logits, labels)


def refused(write, path, reason="force"):
    """That a call refuses to write, and that the file stays as it is."""
    before = path.read_bytes()
    with pytest.raises(ValueError, match=reason):
        write()
    assert path.read_bytes() == before


def test_files_of_another_kind_stay(files):
    folder, dataset = files
    model = segcal.fit(dataset, None, "ts")
    result = segcal.evaluate(model, dataset)
    for save in (model.save, result.save, result.figure().save):
        refused(lambda save=save: save(dataset), dataset)
    model.save(folder / "model.json")
    model.save(folder / "model.json")  # one model over another is what people mean
    refused(lambda: result.save(folder / "model.json"), folder / "model.json")
    result.save(folder / "model.json", force=True)
    assert segcal.Evaluation.load(folder / "model.json").to_json() == result.to_json()
    with pytest.raises(ValueError, match="name of a folder"):
        model.save(folder)
    refused(lambda: segcal.index(folder / "model.json", f"{folder}/data/z{{case}}.npy", input="logits"),
            folder / "model.json")
    segcal.index(folder / "model.json", f"{folder}/data/z{{case}}.npy", input="logits", force=True)
    assert len(segcal.Dataset.load(folder / "model.json")) == 3


def test_graphs_and_pages_replace_their_own_kind_alone(files):
    folder, dataset = files
    model = segcal.fit(dataset, None, "ts")
    model.save(folder / "model.json")
    kept = segcal.load(folder / "model.json")
    for path in (dataset, folder / "model.json"):
        refused(lambda path=path: kept.to_onnx(path), path)
    for _ in range(2):
        kept.to_onnx(folder / "graph.onnx")
    join = {"append_to": folder / "graph.onnx", "output_name": "probabilities", "prefix": "b_"}
    refused(lambda: kept.to_onnx(folder / "graph.onnx", **join), folder / "graph.onnx", "is read")
    for _ in range(2):
        kept.to_onnx(folder / "whole.onnx", **join)
    kept.to_onnx(folder / "graph.onnx", force=True, **join)
    assert (folder / "graph.onnx").read_bytes() == (folder / "whole.onnx").read_bytes()
    page = segcal.report(segcal.compare(dataset, None, "ts(z)", repeats=1, replicates=50), cases=0)
    refused(lambda: page.save(dataset), dataset)
    refused(lambda: page.save(folder / "graph.onnx"), folder / "graph.onnx")
    for _ in range(2):
        page.save(folder / "page.html")
    page.save(folder / "graph.onnx", force=True)
    assert (folder / "graph.onnx").read_text() == page.html


def test_what_is_read_stays(files):
    folder, dataset = files
    model = segcal.fit(dataset, None, "ts")
    (folder / "again").mkdir()
    for i in range(3):
        (folder / "again" / f"{i}.npy").symlink_to(folder / "data" / f"z{i}.npy")
    refused(lambda: model.apply_files(dataset, folder / "again"), folder / "data" / "z0.npy", "is read")
    (folder / "text").mkdir()
    (folder / "text" / "0.npy").write_text("my notes")
    refused(lambda: model.apply_files(dataset, folder / "text"), folder / "text" / "0.npy")
    assert len(model.apply_files(dataset, folder / "text", force=True)["files"]) == 3


def test_kept_training_is_not_lost(tmp_path):
    logits, labels = draw((4, 3, 16, 16))
    given = {"checkpoint": tmp_path / "part", "seed": 1}
    model = segcal.fit(logits, labels, "lts(z, epochs=2)", **given)
    assert (tmp_path / "part").exists()
    refused(lambda: segcal.fit(logits, labels, "lts(z, epochs=2)", **given), tmp_path / "part", "resume=True")
    assert segcal.fit(logits, labels, "lts(z, epochs=2)", resume=True, **given) == model
    assert segcal.fit(logits, labels, "lts(z, epochs=2)", force=True, **given) == model
    (tmp_path / "part").write_text("my notes")
    refused(lambda: segcal.fit(logits, labels, "lts(z, epochs=2)", **given), tmp_path / "part", "kept training")
