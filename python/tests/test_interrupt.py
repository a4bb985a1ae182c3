# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C and progress callbacks stop a long call, soon and cleanly; tqdm shows progress."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import segcal
from data import draw

LONG = """
import numpy as np, segcal, sys, time
rng = np.random.default_rng(0)
z = rng.normal(size=(8, 19, 256, 256)).astype(np.float32)
y = rng.integers(0, 19, (8, 256, 256))
print("begin", flush=True)
try:
    segcal.fit(z, y, "cms_ap", search=1000, checkpoint=sys.argv[1])
except KeyboardInterrupt:
    print("stopped", segcal.fit(z[:1, :, :32, :32], y[:1, :32, :32], "ts").temperature > 0, flush=True)
"""


def test_keyboard_interrupt_arrives_within_a_second_or_two(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", LONG, str(tmp_path / "part")], stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert process.stdout.readline() == "begin\n"
    time.sleep(1.5)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out == "stopped True\n"
    assert process.returncode == 0
    # A second to stop, and the small fit afterwards; twice that on a busy machine.
    assert time.monotonic() - began < 4
    assert not list(tmp_path.iterdir())


def test_callback_hears_and_stops():
    logits, labels = draw((4, 6, 96, 96))
    heard = []

    def listen(stage, done, total, detail):
        heard.append((stage, done, total, detail, threading.get_ident()))
    segcal.fit(logits, labels, "ts", progress=listen)
    assert any(stage and 0 < done <= total for stage, done, total, *_ in heard)
    assert {entry[-1] for entry in heard} == {threading.get_ident()}
    with pytest.raises(segcal.Cancelled):
        segcal.fit(logits, labels, "ms", progress=lambda *_: False)

    def fail(*_):
        raise LookupError("from the callback")
    with pytest.raises(LookupError, match="from the callback"):
        segcal.fit(logits, labels, "ms", progress=fail)
    assert segcal.fit(logits, labels, "ts", progress=False).temperature > 0


def test_calls_from_other_threads_leave_signals_alone():
    logits, labels = draw((2, 4, 64, 64))
    found = []
    thread = threading.Thread(target=lambda: found.append(segcal.fit(logits, labels, "vs")))
    thread.start()
    thread.join()
    assert found[0] == segcal.fit(logits, labels, "vs")


def test_tqdm_shows_a_bar(capsys):
    pytest.importorskip("tqdm")
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(6, 19, 160, 160)).astype(np.float32)
    segcal.fit(logits, rng.integers(0, 19, (6, 160, 160)), "ms", progress=True, threads=1)
    assert "100%" in capsys.readouterr().err
