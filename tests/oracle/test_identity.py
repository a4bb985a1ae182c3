# SPDX-License-Identifier: Apache-2.0
"""The same data gives the same bytes: for any number of threads, type, layout, file and memory."""

import json
import zipfile

import numpy as np
import pytest
from program import describe, fails, random_case, run, save_case
from voxels import simulate

NUM_CLASSES = 5
# More voxels than a block, not a multiple of a tile, of different sizes: uneven work for threads.
SHAPES = [(190, 130), (61, 43), (9, 40, 50)]


@pytest.fixture(scope="module")
def arrays():
    """Cases of two float16 members with labels; one has a mask."""
    rng = np.random.default_rng(11)
    cases = []
    for shape in SHAPES:
        members, labels = random_case(rng, NUM_CLASSES, shape, num_members=2)
        cases.append((members, labels, (rng.random(shape) < 0.9).astype(np.uint8)))
    return cases


def write(folder, arrays, convert=lambda array: array, save=np.save, **fields):
    """The cases as a data set after `convert`, with the same name whatever the folder."""
    folder.mkdir()
    entries = []
    for k, (members, labels, mask) in enumerate(arrays):
        members = [convert(member) for member in members]
        entries.append(save_case(folder, f"case{k}", members, labels, mask if k == 1 else None,
                                 save))
    return describe(folder, entries, NUM_CLASSES, background=0, **fields)


def results(dataset, folder, *options):
    """Bytes of a model, a metrics file and emitted probabilities."""
    model, metrics, emitted = folder / "m.json", folder / "metrics.json", folder / "emitted"
    run("fit", dataset, "-p", "ts(p)", "-o", model, "--quiet", *options)
    run("evaluate", dataset, "-p", "none(z)", "-p", "none(z1)", "-m", model, "-o", metrics,
        "--quiet", *options)
    run("apply", model, dataset, "-o", emitted, "--quiet", *options)
    files = [model, metrics, *sorted(emitted.iterdir())]
    assert len(files) == 2 + len(SHAPES)
    return [path.read_bytes() for path in files]


@pytest.fixture(scope="module")
def expected(arrays, tmp_path_factory):
    """What the plain float16 data set gives on one thread."""
    folder = tmp_path_factory.mktemp("expected")
    return results(write(folder / "data", arrays), folder, "--threads", 1)


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_any_number_of_threads_gives_the_same_bytes(tmp_path, arrays, expected, threads):
    assert results(write(tmp_path / "data", arrays), tmp_path, "--threads", threads) == expected


def save_version(major):
    """np.save with a chosen version of the header."""
    def save(path, array):
        with open(path, "wb") as file:
            np.lib.format.write_array(file, array, version=(major, 0))
    return save


def channels_last(array):
    return np.ascontiguousarray(np.moveaxis(array, 0, -1))


COPIES = {
    "float32": {"convert": lambda a: a.astype(np.float32)},
    "float64": {"convert": lambda a: a.astype(np.float64)},
    "big_endian_half": {"convert": lambda a: a.astype(">f2")},
    "big_endian_double": {"convert": lambda a: a.astype(">f8")},
    "fortran": {"convert": np.asfortranarray},
    "fortran_float": {"convert": lambda a: np.asfortranarray(a.astype(np.float32))},
    "channels_last": {"convert": channels_last, "layout": "channels_last"},
    "channels_last_double": {"convert": lambda a: channels_last(a.astype(np.float64)),
                             "layout": "channels_last"},
    "channels_last_fortran": {"convert": lambda a: np.asfortranarray(channels_last(a)),
                              "layout": "channels_last"},
    "version_2": {"save": save_version(2)},
    "version_3": {"save": save_version(3)},
}


@pytest.mark.parametrize("change", COPIES.values(), ids=COPIES.keys())
def test_any_type_and_layout_gives_the_same_bytes(tmp_path, arrays, expected, change):
    assert results(write(tmp_path / "data", arrays, **change), tmp_path) == expected


def save_stored(path, array):
    np.savez(path.with_suffix(".npz"), logits=array)


def save_deflated(path, array):
    np.savez_compressed(path.with_suffix(".npz"), something_else=array)


def save_with_zip64(path, array):
    """An archive whose member announces 64-bit sizes, as for members above 4 GiB."""
    with zipfile.ZipFile(path.with_suffix(".npz"), "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("softmax.npy", "w", force_zip64=True) as file:
            np.lib.format.write_array(file, array)


@pytest.mark.parametrize("save", [save_stored, save_deflated, save_with_zip64])
def test_archives_give_the_same_bytes(tmp_path, arrays, expected, save):
    dataset = write(tmp_path / "data", arrays, save=save)
    text = dataset.read_text()
    dataset.write_text(text.replace('_m0.npy"', '_m0.npz"').replace('_m1.npy"', '_m1.npz"'))
    assert results(dataset, tmp_path) == expected
    assert not list((tmp_path / "data").glob("*_m0.npy"))


def test_little_memory_and_a_cache_folder_give_the_same_bytes(tmp_path, arrays, expected):
    cache = tmp_path / "cache"
    cache.mkdir()
    dataset = write(tmp_path / "data", arrays, convert=np.asfortranarray)
    assert results(dataset, tmp_path, "--memory", "64M", "--cache", cache) == expected
    assert not list(cache.iterdir())


def test_little_memory_gives_the_same_affine_maps_or_is_refused(tmp_path):
    """Many experts of many parameters: their samples and Hessians are the same or none."""
    dataset = simulate(tmp_path / "data", "--preset", "street", "--classes", 12, "--cases", 2,
                       "--size", "160x160")
    models = []
    for memory in ("64M", "2G"):
        run("fit", dataset, "-p", "cdc(z)", "--search", 0, "--memory", memory, "-o",
            tmp_path / "m.json", "--quiet")
        models.append((tmp_path / "m.json").read_bytes())
    assert models[0] == models[1]
    many = simulate(tmp_path / "many", "--preset", "street", "--classes", 20, "--cases", 1,
                    "--size", "32x32")
    assert "is required" in fails(2, "fit", many, "-p", "cdc(z)", "--search", 0, "--memory", "64M",
                                  "-o", tmp_path / "m.json", "--quiet")


def test_different_data_has_a_different_hash(tmp_path, arrays):
    """The comparisons above would hold for a hash that looks at nothing."""
    def changed(members, labels, mask, what):
        members, labels = [m.copy() for m in members], labels.copy()
        if what == "value":
            members[0][0, 0, 0] = np.nextafter(members[0][0, 0, 0], np.float16(100))
        if what == "label":
            labels[0, 0] = (labels[0, 0] + 1) % NUM_CLASSES
        return members, labels, mask

    hashes = set()
    for what in ("nothing", "value", "label"):
        cases = [changed(*arrays[0], what), *arrays[1:]]
        dataset = write(tmp_path / what, cases)
        run("fit", dataset, "-o", tmp_path / "m.json", "--quiet")
        hashes.add(json.loads((tmp_path / "m.json").read_text())["fit"]["data"]["hash"])
    assert len(hashes) == 3


def test_simulation_does_not_depend_on_threads(tmp_path):
    for threads in (1, 3):
        run("simulate", tmp_path / str(threads), "--preset", "street", "--cases", 2, "--size",
            "60x80", "--members", 2, "--correlation", 3, "--threads", threads, "--quiet")
    one, three = tmp_path / "1", tmp_path / "3"
    files = sorted(path.relative_to(one) for path in one.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(three) for path in three.rglob("*") if path.is_file())
    assert len(files) == 2 + 2 * 5
    for path in files:
        assert (one / path).read_bytes() == (three / path).read_bytes(), path


def other_targets():
    """Instruction sets of this machine but the best, which is named first."""
    message = fails(2, "inspect", "x", env={"SEGCAL_TARGET": "abacus"})
    assert "SEGCAL_TARGET" in message and "abacus" in message
    return message.strip().rsplit("which are ", 1)[1].split(", ")[1:]


def test_instruction_sets_agree_to_rounding(tmp_path, arrays, expected):
    """Bytes are promised per instruction set; between them, numbers agree."""
    dataset = write(tmp_path / "data", arrays)
    best = json.loads(expected[1])["pipelines"][0]["pooled"]
    for target in other_targets():
        done = run("evaluate", dataset, "-p", "none(z)", "--json", "--quiet",
                   env={"SEGCAL_TARGET": target})
        for name, value in json.loads(done.stdout)["pipelines"][0]["pooled"].items():
            assert value == pytest.approx(best[name], rel=1e-6), (target, name)
