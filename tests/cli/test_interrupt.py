# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C: one line that says what was stopped, what is kept and how to go on."""

import json
import signal
import subprocess
import time

import numpy as np
import pytest

from program import PROGRAM, apply, describe, fit, random_case, run, save_case, small_dataset

TRAINING = "selective(z, epochs=100000, patience=100000)"


def start(*arguments):
    return subprocess.Popen([str(PROGRAM), *map(str, arguments)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def stop(process, signals):
    """Sends signals and returns what the program says, which must not go on to its end."""
    for number in signals:
        process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert out == ""
    return err


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.01)


@pytest.mark.parametrize("number,code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopped_training_keeps_its_epochs_and_says_how_to_go_on(tmp_path, number, code):
    dataset = small_dataset(tmp_path / "data", shape=(90, 80))
    model, part = tmp_path / "model.json", tmp_path / "model.json.part"
    process = start("fit", dataset, "-p", TRAINING, "-o", model, "--quiet")
    wait_for(part.exists)
    said = stop(process, [number])
    assert process.returncode == code
    assert said.count("\n") == 1
    assert "train selective" in said and "model.json.part" in said and "--resume" in said
    assert json.loads(part.read_text())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["data", "model.json.part"]


def test_stopped_training_resumes_to_the_same_bytes(tmp_path):
    dataset = small_dataset(tmp_path / "data", shape=(90, 80))
    pipeline = "selective+ts(z, selective.epochs=60)"
    whole, model, part = (tmp_path / name for name in ("whole.json", "model.json", "model.json.part"))
    run("fit", dataset, "-p", pipeline, "-o", whole, "--quiet")
    process = start("fit", dataset, "-p", pipeline, "-o", model, "--quiet")
    wait_for(part.exists)
    stop(process, [signal.SIGINT])
    assert process.returncode == 130 and not model.exists()
    run("fit", dataset, "-p", pipeline, "-o", model, "--quiet", "--resume")
    assert model.read_bytes() == whole.read_bytes()


def test_second_signal_ends_at_once(tmp_path):
    dataset = small_dataset(tmp_path / "data", shape=(90, 80))
    part = tmp_path / "model.json.part"
    process = start("fit", dataset, "-p", TRAINING, "-o", tmp_path / "model.json", "--quiet")
    wait_for(part.exists)
    process.send_signal(signal.SIGSTOP)  # so that both are there before it runs again
    process.send_signal(signal.SIGINT)
    time.sleep(0.1)
    process.send_signal(signal.SIGCONT)
    said = stop(process, [signal.SIGINT, signal.SIGINT])
    assert process.returncode in (130, -signal.SIGINT)
    assert said.count("\n") <= 1


def large_dataset(folder, cases=40):
    """Cases that take a while each."""
    rng = np.random.default_rng(1)
    folder.mkdir()
    members, labels = random_case(rng, 12, (600, 600), dtype=np.float32)
    entry = save_case(folder, "shared", members, labels)
    return describe(folder, [{**entry, "id": f"case{k:02}"} for k in range(cases)], 12)


def test_stopped_apply_leaves_complete_files_only(tmp_path):
    dataset = large_dataset(tmp_path / "data")
    model = tmp_path / "model.json"
    fit(small_dataset(tmp_path / "small", num_classes=12), "cms_ap(z)", model)
    out = tmp_path / "out"
    process = start("apply", model, dataset, "-o", out, "--quiet")
    wait_for(lambda: out.exists() and len(list(out.iterdir())) >= 3)
    said = stop(process, [signal.SIGINT])
    assert process.returncode == 130
    assert said.count("\n") == 1 and "apply cms_ap" in said and str(out) in said
    written = sorted(out.iterdir())
    assert 3 <= len(written) < 40
    whole = apply(model, dataset, tmp_path / "whole")
    for path in written:
        assert path.read_bytes() == (whole / path.name).read_bytes()


@pytest.mark.parametrize("command", [
    ("evaluate", "-p", "none(z)", "--metrics", "all"), ("inspect",),
    ("fit", "-p", "cms_ap(z)", "-o", "OUT/model.json"),
    ("fit", "-p", "lts(z)", "-o", "OUT/model.json")])
def test_other_commands_stop_and_leave_nothing(tmp_path, command):
    dataset = large_dataset(tmp_path / "data", cases=2000)  # minutes of work for any of them
    out = tmp_path / "out"
    out.mkdir()
    name, *options = (text.replace("OUT", str(out)) for text in command)
    process = start(name, dataset, *options, "--quiet")
    time.sleep(0.4)
    said = stop(process, [signal.SIGINT])
    assert process.returncode == 130, said
    assert said.count("\n") == 1 and "the same command starts" in said
    assert list(out.iterdir()) == []


def test_stopped_simulation_leaves_nothing(tmp_path):
    out = tmp_path / "out"
    process = start("simulate", out, "--cases", "500", "--quiet")
    wait_for(lambda: (out / "labels").exists() and list((out / "labels").iterdir()))
    said = stop(process, [signal.SIGINT])
    assert process.returncode == 130
    assert said.count("\n") == 1 and "simulate street" in said
    assert not out.exists()
    run("simulate", out, "--cases", "1", "--size", "20x30", "--quiet")


def test_ignored_signal_stays_ignored(tmp_path):
    dataset = large_dataset(tmp_path / "data", cases=4)
    process = subprocess.Popen(
        [str(PROGRAM), "evaluate", str(dataset), "-p", "none(z)", "--quiet"], stdout=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    for _ in range(5):
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 0
