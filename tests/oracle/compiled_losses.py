# SPDX-License-Identifier: Apache-2.0
"""segcal.losses under torch.compile and in nnU-Net's trainer; run by test_losses_compiled.py in an environment of its own.

    compiled_losses.py compile VARIANTS     largest differences between compiled and eager, one line per variant
    compiled_losses.py nnunet PAGE          the recipe of the page, run
"""

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import torch


def load_losses(name):
    """The folder as a package of its own, without the compiled part of segcal."""
    folder = Path(__file__).resolve().parents[2] / "python" / "segcal" / "losses"
    spec = importlib.util.spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def batch(shape=(2, 4, 32, 32)):
    generator = torch.Generator().manual_seed(1)
    labels = torch.randint(0, shape[1], (shape[0], *shape[2:]), generator=generator)
    labels[0, :3] = 255
    return 3 * torch.randn(shape, generator=generator), labels


def value_and_gradient(function, logits, labels):
    z = logits.clone().requires_grad_()
    value = function(z, labels)
    return float(value), torch.autograd.grad(value, z)[0]


def compare(losses, kind, options):
    """Of a loss alone, and under autocast behind a convolution; nothing of it may be left uncompiled."""
    loss = losses.make(kind, ignore_index=255, **options)
    convolution = torch.nn.Conv2d(4, 4, 1)

    def step(images, labels):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return loss(convolution(images), labels)

    found = {}
    for name, function in (("alone", loss), ("autocast", step)):
        torch._dynamo.reset()  # pylint: disable=protected-access
        eager, slope = value_and_gradient(function, *batch())
        compiled, other = value_and_gradient(torch.compile(function, fullgraph=True), *batch())
        found[name] = [abs(compiled - eager) / abs(eager), float((other - slope).abs().max() / slope.abs().max())]
    return found


def nnunet(page):
    """The trainer class of the page, its loss on what nnU-Net hands over, with and without deep supervision."""
    losses = load_losses("losses")
    sys.modules["segcal"] = SimpleNamespace(losses=losses)
    code = re.search(r"^```python\n(import numpy.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)[1]
    names = {}
    exec(code, names)  # pylint: disable=exec-used
    trainer = object.__new__(names["nnUNetTrainerNACL"])
    trainer.label_manager = SimpleNamespace(has_regions=False, ignore_label=3)
    trainer.is_ddp = False
    trainer._get_deep_supervision_scales = lambda: [[1, 1], [0.5, 0.5], [0.25, 0.25]]  # pylint: disable=protected-access
    logits = [torch.randn(2, 3, side, side, requires_grad=True) for side in (16, 8, 4)]
    labels = [torch.randint(0, 4, (2, 1, z.shape[2], z.shape[3])).float() for z in logits]
    own = losses.make("nacl", lam=0.1, ignore_index=3)
    trainer.enable_deep_supervision = False
    assert float(trainer._build_loss()(logits[0], labels[0])) == float(own(logits[0], labels[0]))  # pylint: disable=protected-access
    trainer.enable_deep_supervision = True
    deep = trainer._build_loss()(logits, labels)  # pylint: disable=protected-access
    expected = (2 * own(logits[0], labels[0]) + own(logits[1], labels[1])) / 3
    assert torch.allclose(deep, expected), (deep, expected)
    deep.backward()
    assert logits[0].grad.abs().max() > 0


def main():
    torch.set_num_threads(1)
    if sys.argv[1] == "nnunet":
        nnunet(Path(sys.argv[2]))
        return
    losses = load_losses("losses")
    for kind, options in json.loads(sys.argv[2]):
        print(json.dumps(compare(losses, kind, options)), flush=True)


main()
