# SPDX-License-Identifier: Apache-2.0
"""Tensors go in as they are and come back as tensors; PyTorch is never imported by segcal."""

import resource
import subprocess
import sys

import numpy as np
import pytest
import segcal
from data import draw

torch = pytest.importorskip("torch")


@pytest.fixture(name="arrays", scope="module")
def fixture_arrays():
    return draw((3, 4, 20, 30))


def test_torch_is_not_imported():
    code = "import segcal, sys; assert 'torch' not in sys.modules and 'tqdm' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_tensors_are_their_arrays(arrays, kind):
    logits, labels = arrays[0].astype(kind), arrays[1]
    tensor = torch.tensor(logits)
    model = segcal.fit(tensor, torch.tensor(labels.astype(np.int64)), "ts")
    assert model.to_json() == segcal.fit(logits, labels, "ts").to_json()
    result = model.predict_proba(tensor)
    assert isinstance(result, torch.Tensor) and result.dtype == torch.float32
    assert result.numpy().tobytes() == model.predict_proba(logits).tobytes()
    assert isinstance(model.predict(tensor), torch.Tensor)


def test_bfloat16_is_float32_of_the_same_values(arrays):
    tensor = torch.tensor(arrays[0]).to(torch.bfloat16)
    labels = torch.tensor(arrays[1])
    same = tensor.to(torch.float32)
    model = segcal.fit(tensor, labels, "cms_ap")
    assert model.to_json() == segcal.fit(same, labels, "cms_ap").to_json()
    for view in (lambda t: t, lambda t: t.flip(2), lambda t: t[:, :, ::2], lambda t: t[0],
                 lambda t: t.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)):
        assert torch.equal(model.predict_proba(view(tensor)), model.predict_proba(view(same)))


def test_bfloat16_is_not_copied():
    tensor = torch.zeros(8, 512, 512, dtype=torch.bfloat16)
    model = segcal.fit(torch.randn(8, 8, 16, 16), torch.randint(0, 8, (8, 16, 16)), "ts", layout="NCHW")
    out = torch.full((8, 512, 512), -1.0)  # every page of it is there
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    model.predict_proba(tensor[:, :64], out=out[:, :64])  # threads and their buffers
    model.predict_proba(tensor, out=out, threads=1)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown * 1024 < tensor.numel() * 4, "as much as a copy in float32"
    assert out.sum().item() == pytest.approx(512 * 512, rel=1e-5)


def test_strided_and_differentiable_tensors(arrays):
    logits = torch.tensor(arrays[0], requires_grad=True)
    model = segcal.fit(logits, torch.tensor(arrays[1]), "ts")
    strided = logits.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
    assert torch.equal(model.predict_proba(strided), model.predict_proba(logits))
    out = torch.empty(3, 4, 20, 30)
    assert model.predict_proba(logits, out=out) is out
    assert torch.equal(out, model.predict_proba(logits))
    mask = torch.ones(3, 20, 30, dtype=torch.bool)
    assert torch.equal(model.predict_proba(logits, mask=mask), out)


def test_what_cannot_be_read_in_place_is_refused(arrays):
    labels = torch.tensor(arrays[1])
    with pytest.raises(ValueError, match="dense"):
        segcal.fit(torch.tensor(arrays[0]).to_sparse(), labels, "ts")
    with pytest.raises(ValueError, match="complex"):
        segcal.fit(torch.tensor(arrays[0]).to(torch.complex64), labels, "ts")
    with pytest.raises(ValueError, match="meta"):
        segcal.fit(torch.empty(3, 4, 20, 30, device="meta"), labels, "ts")
    model = segcal.fit(torch.tensor(arrays[0]), labels, "ts")
    with pytest.raises(ValueError, match="bfloat16"):
        model.predict_proba(torch.tensor(arrays[0]), out=torch.empty(3, 4, 20, 30, dtype=torch.bfloat16))


def test_loader_of_batches(arrays):
    logits, labels = torch.tensor(arrays[0]), torch.tensor(arrays[1])
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(logits, labels), batch_size=2)
    assert segcal.fit(loader, None, "ts").to_json() == segcal.fit(logits, labels, "ts").to_json()
