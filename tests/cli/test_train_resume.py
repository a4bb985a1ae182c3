# SPDX-License-Identifier: Apache-2.0
"""segcal train after a kill, on a full disk, and after numbers went wrong: the last good network is kept.

With SEGCAL_LONG_TESTS set, ten kills instead of two.
"""

import json
import os
import random
import resource
import signal
import subprocess
import time

import numpy as np
from PIL import Image
from program import PROGRAM, fails, run
from training import SMALL, TRAINED, make_photos, needs_torch, train_networks  # noqa: F401, fixtures

pytestmark = needs_torch
KILLS = 10 if os.environ.get("SEGCAL_LONG_TESTS") else 2
FILES = [f"member{m}/{name}.net" for m in (0, 1) for name in ("best", "last")]


def start(photos, folder, options):
    """The training, or its continuation, in the background."""
    resume = ["--resume"] if (folder / "training.json").exists() else []
    return subprocess.Popen([PROGRAM, "train", photos, "-o", folder, *map(str, options), *resume])


def finish(photos, folder, options):
    process = start(photos, folder, options)
    assert process.wait(timeout=300) == 0
    return {name: (folder / name).read_bytes() for name in FILES}


def test_killed_training_goes_on_to_the_same_bytes(photos, tmp_path):
    options = ["--members", 2, "--epochs", 4 * KILLS, "--patches", 6, *SMALL, "--quiet"]
    begin = time.monotonic()
    whole = finish(photos, tmp_path / "whole", options)
    seconds = time.monotonic() - begin
    draw = random.Random(3)
    killed = tmp_path / "killed"
    for _ in range(KILLS):
        process = start(photos, killed, options)
        time.sleep(draw.uniform(0.05, 0.8) * seconds / KILLS)
        assert process.poll() is None, "the training was over before it could be killed"
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert finish(photos, killed, options) == whole


def stop_after_an_epoch(photos, folder, options):
    process = start(photos, folder, options)
    while not (folder / "member0" / "last.net").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.kill()
    process.wait()


def test_a_full_disk_loses_no_earlier_epoch(photos, tmp_path):
    """Stopped after an epoch, then no file may be as long as a network."""
    options = ["--members", 2, "--epochs", 4, "--patches", 6, *SMALL, "--quiet"]
    folder = tmp_path / "run"
    stop_after_an_epoch(photos, folder, options)
    before = {path: path.read_bytes() for path in folder.rglob("*.net")}
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # noqa: E731
    done = subprocess.run([PROGRAM, "train", photos, "-o", folder, *map(str, options), "--resume"], preexec_fn=limit,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 4 and ".net" in done.stderr, done.stderr
    assert {path: path.read_bytes() for path in folder.rglob("*.net")} == before
    assert finish(photos, folder, options) == finish(photos, tmp_path / "whole", options)


def test_numbers_that_overflow_end_it_and_the_last_good_network_stays(photos, tmp_path):
    """What a training with too high a rate does to its weights is done to those of an unfinished one."""
    folder = tmp_path / "run"
    options = ["--epochs", 60, "--patches", 6, *SMALL, "--quiet"]
    stop_after_an_epoch(photos, folder, options)
    path = folder / "member0" / "last.net"
    magic, text, numbers = path.read_bytes().split(b"\n", 2)
    epochs = json.loads(text)["epochs"]
    path.write_bytes(b"\n".join([magic, text, (1e30 * np.frombuffer(numbers, np.float32)).tobytes()]))
    before = {file: file.read_bytes() for file in folder.rglob("*.net")}
    message = fails(3, "train", photos, "-o", folder, *options, "--resume")
    assert f"the loss became nan in step 1 of epoch {epochs + 1}" in message, message
    assert f"last.net keeps the network after epoch {epochs}" in message, message
    assert {file: file.read_bytes() for file in folder.rglob("*.net")} == before
    run("predict", folder, photos, "-o", tmp_path / "out", "--split", "test", "--quiet")


def test_resume_refuses_another_training(photos, networks, tmp_path):
    folder, _ = networks
    again = ["train", photos, "-o", folder, "--quiet"]
    assert "--resume" in fails(4, *again, *TRAINED, "--loss", "svls")
    message = fails(2, *again, *TRAINED, "--resume", "--loss", "ce")
    assert "loss" in message and "svls" in message and "ce" in message
    wider = [5 if value == 4 and TRAINED[i - 1] == "--width" else value for i, value in enumerate(TRAINED)]
    message = fails(2, *again, *wider, "--resume", "--loss", "svls")
    assert "network" in message
    # The same names and sizes, another image.
    other = tmp_path / "other"
    subprocess.run(["cp", "-r", photos, other], check=True)
    case = next(c for c in json.loads((other / "dataset.json").read_text())["cases"] if c["split"] == "train")
    picture = np.array(Image.open(other / case["image"]))
    picture[0, 0] ^= 1
    Image.fromarray(picture).save(other / case["image"])
    message = fails(2, "train", other, "-o", folder, "--quiet", *TRAINED, "--resume", "--loss", "svls")
    assert "data_hash" in message or "mean" in message


def test_resume_refuses_the_file_of_another_network(photos, tmp_path):
    options = ["--epochs", 1, *SMALL[2:], "--quiet"]
    for name, width in (("a", 4), ("b", 5)):
        run("train", photos, "-o", tmp_path / name, *options, "--width", width)
    target = tmp_path / "a" / "member0" / "last.net"
    target.write_bytes((tmp_path / "b" / "member0" / "last.net").read_bytes())
    message = fails(3, "train", photos, "-o", tmp_path / "a", *options, "--width", 4, "--resume")
    assert "last.net" in message and "another network" in message
