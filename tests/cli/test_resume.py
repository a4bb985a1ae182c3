# SPDX-License-Identifier: Apache-2.0
"""A training that was killed goes on to the same bytes."""

import json
import re
import signal
import subprocess
import time

from program import PROGRAM, fails, run, small_dataset

PIPELINE = "selective+ts(z, selective.epochs=60)"


def kill_after_epochs(dataset, model, part, epochs):
    """Starts a fit and kills it, without mercy, when so many epochs are kept."""
    command = [str(PROGRAM), "fit", str(dataset), "-p", PIPELINE, "-o", str(model), "--quiet"]
    fit = subprocess.Popen(command + (["--resume"] if part.exists() else []))
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and fit.poll() is None:
        if part.exists() and kept_epochs(part) >= epochs:
            break
        time.sleep(0.002)
    fit.send_signal(signal.SIGKILL)
    fit.wait()


def kept_epochs(part):
    running = json.loads(part.read_text())["parts"]["selective"]["running"]
    return len(running["history"]["training_loss"]) if running else 0


def test_killed_fit_resumes_to_the_same_bytes(tmp_path):
    dataset = small_dataset(tmp_path / "data", shape=(90, 80))
    whole, model, part = (tmp_path / name for name in ("whole.json", "model.json", "model.json.part"))
    run("fit", dataset, "-p", PIPELINE, "-o", whole, "--quiet")
    assert not (tmp_path / "whole.json.part").exists()
    kill_after_epochs(dataset, model, part, 3)
    assert part.exists() and not model.exists()
    first = kept_epochs(part)
    assert 3 <= first < 60
    kill_after_epochs(dataset, model, part, first + 4)
    assert not model.exists() and kept_epochs(part) > first
    run("fit", dataset, "-p", PIPELINE, "-o", model, "--quiet", "--resume")
    assert model.read_bytes() == whole.read_bytes()
    assert not part.exists()


def test_state_of_another_fit_is_refused_and_kept_unless_forced(tmp_path):
    dataset = small_dataset(tmp_path / "data", shape=(90, 80))
    model, part = tmp_path / "model.json", tmp_path / "model.json.part"
    kill_after_epochs(dataset, model, part, 1)
    message = fails(3, "fit", dataset, "-p", "selective(z, epochs=3)", "-o", model, "--quiet", "--resume")
    assert "model.json.part" in message and "another fit" in message
    kept = part.read_bytes()
    message = fails(2, "fit", dataset, "-p", PIPELINE, "-o", model, "--quiet")
    assert "--resume" in message and "--force" in message and part.read_bytes() == kept
    run("fit", dataset, "-p", "selective(z, epochs=3)", "-o", model, "--quiet", "--force")
    assert model.exists() and not part.exists()


def test_progress_shows_epoch_losses_rate_and_time_left(tmp_path):
    dataset = small_dataset(tmp_path / "data", shape=(90, 80))
    command = [str(PROGRAM), "fit", str(dataset), "-p", "selective(z, epochs=100000)", "-o", str(tmp_path / "m.json")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as fit:
        line = fit.stderr.readline()
        fit.kill()
    number = r"\d+\.\d{5}"
    assert re.fullmatch(rf"train selective: +\d+ %  epoch \d+, loss {number}, validation {number} "
                        rf"\(best {number}\), rate 0.001  \d+:\d\d left\n", line)
