# SPDX-License-Identifier: Apache-2.0
"""segcal corrupt: what it writes, that it does so again, and what it says to wrong input."""

import json
import re

import numpy as np
import pytest
from PIL import Image
from program import describe, fails, random_case, run, save_case, small_dataset

ALL = ["noise", "blur", "brightness", "jpeg", "fog"]


def save_photo(path, shape=(20, 30, 3), seed=1):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 256, shape).astype(np.uint8)
    Image.fromarray(pixels).save(path)
    return path


@pytest.fixture(name="photos")
def make_photos(tmp_path):
    for i in range(12):
        save_photo(tmp_path / "photos" / f"p{i}.png", seed=i)
    return tmp_path / "photos"


@pytest.fixture(name="pictured")
def make_pictured(tmp_path):
    """A data set with images, labels, masks, splits and a label map."""
    folder = tmp_path / "data"
    folder.mkdir()
    rng = np.random.default_rng(2)
    cases = []
    for i in range(6):
        members, labels = random_case(rng, 3, (20, 30))
        entry = save_case(folder, f"case{i}", members, labels, mask=np.ones((20, 30), np.uint8),
                          split="test" if i % 2 else "calibration", group=f"g{i // 2}",
                          image=f"images/case{i}.png")
        save_photo(folder / "images" / f"case{i}.png", seed=i)
        cases.append(entry)
    return describe(folder, cases, 3)


def content(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*"))
            if p.is_file()}


def test_the_same_bytes_for_any_number_of_threads_and_others_for_another_seed(photos, tmp_path):
    runs = {}
    for name, threads, seed in [("a", 1, 5), ("b", 3, 5), ("c", 2, 6)]:
        run("corrupt", photos, "-o", tmp_path / name, "--severity", "strong", "--threads", threads,
            "--seed", seed, "--quiet")
        runs[name] = content(tmp_path / name)
    assert len(runs["a"]) == 13
    assert runs["a"] == runs["b"] != runs["c"]
    assert str(tmp_path).encode() not in b"".join(runs["a"].values())


def test_a_data_set_keeps_its_labels_and_loses_its_predictions(pictured, tmp_path):
    out = tmp_path / "deep" / "out"
    done = run("corrupt", pictured, "-o", out, "--severity", "mild", "--split", "test")
    assert "3 images" in done.stdout and "next:" in done.stdout
    new = json.loads((out / "dataset.json").read_text())
    old = json.loads(pictured.read_text())
    assert "input" not in new and new["classes"] == old["classes"]
    assert [c["id"] for c in new["cases"]] == ["case1", "case3", "case5"]
    for case in new["cases"]:
        before = next(c for c in old["cases"] if c["id"] == case["id"])
        assert "members" not in case
        assert (case["split"], case["group"]) == (before["split"], before["group"])
        for kind in ("labels", "mask"):
            assert np.array_equal(np.load(out / case[kind]), np.load(pictured.parent / before[kind]))
        clean = np.asarray(Image.open(pictured.parent / before["image"]))
        changed = np.asarray(Image.open(out / case["image"]))
        assert changed.shape == clean.shape and np.any(changed != clean)


def test_a_corrupted_data_set_can_be_corrupted_again_and_not_be_fitted(pictured, tmp_path):
    run("corrupt", pictured, "-o", tmp_path / "a", "--severity", "mild", "--only", "fog", "--quiet")
    run("corrupt", tmp_path / "a", "-o", tmp_path / "b", "--severity", "mild", "--only", "jpeg",
        "--quiet")
    assert (tmp_path / "b" / "images" / "case0.png").exists()
    message = fails(3, "fit", tmp_path / "a", "-o", tmp_path / "m.json")
    assert "a/dataset.json" in message and '"input"' in message


def test_json_is_the_file_of_what_was_done(photos, tmp_path):
    done = run("corrupt", photos, "-o", tmp_path / "out", "--severity", "strong", "--json")
    result = json.loads(done.stdout)
    assert result == json.loads((tmp_path / "out" / "corruptions.json").read_text())
    assert result["severity"] == "strong" and len(result["images"]) == 12
    assert {i["corruption"] for i in result["images"]} <= set(ALL)


def test_the_figure_shows_an_image_under_every_corruption(photos, tmp_path):
    run("corrupt", photos, "-o", tmp_path / "out", "--severity", "strong", "--figures",
        tmp_path / "f", "--picture", "p3", "--quiet")
    svg = (tmp_path / "f" / "corruptions.svg").read_text()
    assert svg.count("data:image/png") == 6
    assert "p3: strong corruptions" in svg
    for caption in ("clean", "noise: sigma 0.10", "jpeg: quality 10", "fog: alpha 0.5"):
        assert caption in svg


def test_only_is_one_type_for_all(photos, tmp_path):
    out = run("corrupt", photos, "-o", tmp_path / "out", "--severity", "mild", "--only", "blur",
              "--quiet").stdout
    assert re.search(r"blur +k 5, sigma 1 +12", out)
    assert "noise" not in out


def test_wrong_usage_is_named(photos, pictured, tmp_path):
    out = tmp_path / "out"
    for arguments, parts in [
            (["--severity", "fierce"], ["--severity", "mild", "strong"]),
            ([], ["--severity"]),
            (["--severity", "mild", "--only", "rain"], ["--only", "rain", "fog"]),
            (["--severity", "mild", "--split", "test"], ["split", "test", "data set"]),
            (["--severity", "mild", "--range", "5"], ["--range 5", "BLACK,WHITE"]),
            (["--severity", "mild", "--range", "9,1"], ["9 to 1"]),
            (["--severity", "mild", "--picture", "p1"], ["--picture", "--figures"]),
            (["--severity", "mild", "--figures", tmp_path / "f", "--picture", "q"], ['"q"'])]:
        message = fails(2, "corrupt", photos, "-o", out, *arguments)
        assert all(part in message for part in parts), message
    message = fails(2, "corrupt", pictured, "-o", out, "--severity", "mild", "--split", "x")
    assert '"x"' in message and "calibration" in message
    assert not out.exists() or not list(out.iterdir())


def test_bad_images_are_named_and_leave_nothing(photos, tmp_path):
    out = tmp_path / "out"
    Image.fromarray(np.zeros((4, 4), np.uint8)).convert("P").save(photos / "palette.png")
    message = fails(3, "corrupt", photos, "-o", out, "--severity", "mild")
    assert "palette.png" in message and "palette indices" in message
    (photos / "palette.png").write_bytes(b"\x89PNG\r\n\x1a\nbroken")
    assert "palette.png" in fails(3, "corrupt", photos, "-o", out, "--severity", "mild")
    (photos / "palette.png").unlink()
    np.save(photos / "v.npy", np.zeros((4, 5, 3), np.float32))
    message = fails(2, "corrupt", photos, "-o", out, "--severity", "mild")
    assert "v.npy" in message and "(4, 5, 3)" in message and "spatial axes" in message
    np.save(photos / "v.npy", np.full((4, 5), 2.0, np.float32))
    message = fails(3, "corrupt", photos, "-o", out, "--severity", "mild")
    assert "v.npy" in message and "the value 2" in message and "range" in message
    (photos / "v.npy").unlink()
    (photos / "p1.jpg").write_bytes((photos / "p1.png").read_bytes())
    message = fails(2, "corrupt", photos, "-o", out, "--severity", "mild")
    assert "p1.png" in message and "p1.jpg" in message
    assert not out.exists()


def test_missing_and_empty_places_are_named(tmp_path, photos):
    out = tmp_path / "out"
    assert "none.png" in fails(4, "corrupt", tmp_path / "none.png", "-o", out, "--severity", "mild")
    (tmp_path / "void").mkdir()
    message = fails(3, "corrupt", tmp_path / "void", "-o", out, "--severity", "mild")
    assert "void" in message and "no images" in message and ".png" in message
    message = fails(4, "corrupt", photos, "-o", photos, "--severity", "mild")
    assert "photos" in message and "not an empty folder" in message
    assert len(list(photos.iterdir())) == 12


def test_images_and_labels_of_different_size_are_refused(pictured, tmp_path):
    save_photo(pictured.parent / "images" / "case2.png", shape=(21, 30, 3))
    message = fails(3, "corrupt", pictured, "-o", tmp_path / "out", "--severity", "mild")
    assert "case2.png" in message and "(21, 30, 3)" in message and "(20, 30)" in message


def test_items_of_a_batch_stay_items(tmp_path):
    """Images and labels of all cases in one file each."""
    rng = np.random.default_rng(6)
    images = rng.integers(0, 256, (3, 20, 30)).astype(np.uint8)
    np.save(tmp_path / "images.npy", images)
    np.save(tmp_path / "labels.npy", rng.integers(0, 2, (3, 20, 30)).astype(np.uint8))
    cases = [{"id": f"c{k}", "image": {"file": "images.npy", "item": k},
              "labels": {"file": "labels.npy", "item": k}} for k in range(3)]
    dataset = describe(tmp_path, cases, 2)
    run("corrupt", dataset, "-o", tmp_path / "out", "--severity", "mild", "--only", "fog", "--quiet")
    new = json.loads((tmp_path / "out" / "dataset.json").read_text())
    for k, case in enumerate(new["cases"]):
        assert case["labels"] == {"file": "../labels.npy", "item": k}
        found = np.load(tmp_path / "out" / case["image"])
        assert np.abs(found - (0.9 * images[k] + 25.5)).max() <= 0.51


def test_cases_without_an_image_are_named(tmp_path):
    dataset = small_dataset(tmp_path / "data")
    message = fails(3, "corrupt", dataset, "-o", tmp_path / "out", "--severity", "mild")
    assert "dataset.json" in message and '"case0" has no image' in message
