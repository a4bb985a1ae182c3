# SPDX-License-Identifier: Apache-2.0
"""Corrupted images against NumPy and SciPy, and against Pillow for JPEG; docs/methods/corruptions.md."""

import io
import json

import nibabel
import numpy as np
import pytest
from PIL import Image
from program import run
from random_stream import Stream
from scipy.ndimage import correlate1d

SETTINGS = {"mild": {"noise": 0.03, "blur": (5, 1.0), "brightness": 1.2, "jpeg": 60, "fog": 0.1},
            "strong": {"noise": 0.10, "blur": (13, 3.0), "brightness": 1.8, "jpeg": 10, "fog": 0.5}}
TYPES = ["noise", "blur", "brightness", "jpeg", "fog"]


def name_hash(name):
    """64-bit FNV-1a."""
    value = 0xCBF29CE484222325
    for byte in name.encode():
        value = ((value ^ byte) * 0x100000001B3) & Stream.MASK
    return value


def image_key(name, seed):
    return Stream(seed, name_hash(name)).at(0)


def drawn_type(name, seed):
    """(CR1)"""
    return TYPES[Stream(image_key(name, seed), 0).below(len(TYPES))]


def uniform(key, count):
    """The first numbers of a stream in (0, 1), all at once."""
    golden = np.uint64(Stream.GOLDEN)

    def mix(x):
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))

    with np.errstate(over="ignore"):
        n = np.arange(count, dtype=np.uint64)
        bits = mix(np.uint64(key) + mix(n * golden + golden))
    return ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def expected_noise(shape, name, seed):
    """(CR3)"""
    u = uniform(Stream(image_key(name, seed), 1).key, 2 * int(np.prod(shape)))
    return (np.sqrt(-2 * np.log(u[0::2])) * np.cos(2 * np.pi * u[1::2])).reshape(shape)


def as_jpeg(values, quality):
    """Pillow's encoder and decoder on the values in 8 bits."""
    data = io.BytesIO()
    Image.fromarray(np.floor(255 * values + 0.5).astype(np.uint8)).save(data, "JPEG",
                                                                       quality=quality)
    return np.asarray(Image.open(io.BytesIO(data.getvalue()))) / 255.0


def corrupted(values, kind, severity, name, seed, axes=(0, 1)):
    """Intensities in [0, 1] after one corruption; `axes` are those of a plane."""
    setting = SETTINGS[severity][kind]
    if kind == "noise":
        values = values + setting * expected_noise(values.shape, name, seed)
    elif kind == "blur":
        taps, sigma = setting
        kernel = np.exp(-0.5 * (np.arange(taps) - taps // 2) ** 2 / sigma**2)
        for axis in axes:
            values = correlate1d(values, kernel / kernel.sum(), axis=axis, mode="mirror")
    elif kind == "brightness":
        values = values * setting
    elif kind == "jpeg":
        values = as_jpeg(values, setting)
    else:
        values = (1 - setting) * values + setting
    return np.clip(values, 0, 1)


def photo(shape, seed=3):
    """A smooth picture with an edge and some grain."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:shape[0], 0:shape[1]]
    base = 0.5 + 0.3 * np.sin(x / 9.0) * np.cos(y / 7.0) + 0.2 * (x > shape[1] // 2)
    if len(shape) == 3:
        base = base[..., None] * np.linspace(0.6, 1.0, shape[2])
    return np.clip(base + rng.normal(0, 0.03, shape), 0, 1)


def corrupt(image, out, kind, severity, seed, *options):
    run("corrupt", image, "-o", out, "--severity", severity, "--only", kind, "--seed", seed,
        "--quiet", *options)


def check_bytes(found, values, scale):
    """Equal to rounding, but where the exact value is within 1e-6 of the middle of two numbers."""
    exact = scale * values
    wrong = found != np.floor(exact + 0.5)
    tie = np.abs(exact - np.floor(exact) - 0.5) < 1e-6 * scale
    assert not np.any(wrong & ~tie), int(np.sum(wrong & ~tie))


@pytest.mark.parametrize("severity", SETTINGS)
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("shape", [(61, 83), (40, 57, 3)])
def test_8_bit_images(tmp_path, kind, severity, shape):
    pixels = np.round(255 * photo(shape)).astype(np.uint8)
    Image.fromarray(pixels).save(tmp_path / "street.png")
    corrupt(tmp_path / "street.png", tmp_path / "out", kind, severity, 7)
    found = np.asarray(Image.open(tmp_path / "out" / "images" / "street.png"))
    check_bytes(found, corrupted(pixels / 255.0, kind, severity, "street", 7), 255)


@pytest.mark.parametrize("kind", TYPES)
def test_jpeg_images_are_read_and_written_without_further_loss(tmp_path, kind):
    pixels = np.round(255 * photo((40, 48, 3))).astype(np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.jpg", quality=95)
    decoded = np.asarray(Image.open(tmp_path / "a.jpg"))
    corrupt(tmp_path / "a.jpg", tmp_path / "out", kind, "mild", 0)
    found = np.asarray(Image.open(tmp_path / "out" / "images" / "a.png"))
    check_bytes(found, corrupted(decoded / 255.0, kind, "mild", "a", 0), 255)


def test_16_bit_images(tmp_path):
    pixels = np.round(65535 * photo((30, 40))).astype(np.uint16)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    corrupt(tmp_path / "a.png", tmp_path / "out", "fog", "strong", 0)
    found = np.asarray(Image.open(tmp_path / "out" / "images" / "a.png")).astype(np.float64)
    assert np.abs(found - 65535 * corrupted(pixels / 65535, "fog", "strong", "a", 0)).max() <= 0.51


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_float_images_with_many_channels(tmp_path, kind, dtype):
    """Channels that are no colours are compressed one by one."""
    values = photo((33, 35, 4)).astype(dtype)
    np.save(tmp_path / "a.npy", values)
    corrupt(tmp_path / "a.npy", tmp_path / "out", kind, "strong", 5, "--spatial-axes", 2)
    found = np.load(tmp_path / "out" / "images" / "a.npy")
    assert found.dtype == dtype
    values = values.astype(np.float64)
    if kind == "jpeg":
        expected = np.stack([as_jpeg(values[..., c], 10) for c in range(4)], axis=-1)
    else:
        expected = corrupted(values, kind, "strong", "a", 5)
    tolerance = 2e-7 if dtype != np.float16 else 5e-4
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("kind", ["noise", "blur", "jpeg"])
def test_nifti_volumes_slice_by_slice_with_their_geometry(tmp_path, kind):
    values = np.stack([photo((21, 30), seed) for seed in range(4)]).astype(np.float32)
    affine = np.diag([0.8, 1.1, 2.5, 1.0])
    affine[:3, 3] = [4, -5, 6]
    nibabel.save(nibabel.Nifti1Image(1000 * values.T, affine), tmp_path / "mr.nii.gz")
    stored = np.asarray(nibabel.load(tmp_path / "mr.nii.gz").dataobj).T
    corrupt(tmp_path / "mr.nii.gz", tmp_path / "out", kind, "strong", 1, "--range", "0,1000")
    image = nibabel.load(tmp_path / "out" / "images" / "mr.nii.gz")
    np.testing.assert_allclose(image.affine, affine)
    found = np.asarray(image.dataobj).T
    if kind == "jpeg":
        expected = np.stack([as_jpeg(plane / 1000.0, 10) for plane in stored.astype(np.float64)])
    else:
        expected = corrupted(stored.astype(np.float64) / 1000, kind, "strong", "mr", 1, axes=(1, 2))
    np.testing.assert_allclose(found, 1000 * expected, rtol=0, atol=3e-4)


def test_types_are_drawn_by_name_and_seed(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    names = [f"frame_{i:03}" for i in range(40)]
    for name in names:
        Image.fromarray(np.zeros((4, 5), np.uint8)).save(folder / f"{name}.png")
    (folder / "notes.txt").write_text("no image")
    for seed in (0, 12345678901234567890):
        out = tmp_path / f"out{seed}"
        run("corrupt", folder, "-o", out, "--severity", "mild", "--seed", seed, "--quiet")
        images = json.loads((out / "corruptions.json").read_text())["images"]
        assert [(i["id"], i["corruption"]) for i in images] == \
            [(name, drawn_type(name, seed)) for name in names]
