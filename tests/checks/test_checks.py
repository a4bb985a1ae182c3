# SPDX-License-Identifier: Apache-2.0
"""Each check passes a clean tree and catches the violation planted in it."""

import dependencies
import equations
import manners
import method_files
import one_definition
import public_headers
import pytest

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
BOX = "namespace segcal {\nstruct Box {\n};\n}  // namespace segcal\n"
CLEAN = {
    "include/segcal/error.h": SPDX + "#include <string>\n",
    "include/segcal/model.h": SPDX + '#include <span>\n#include "segcal/error.h"\n',
    "src/core/parallel.cc": SPDX + "#include <thread>\n",
    "src/kernels/nll.cc": SPDX + '#include "hwy/highway.h"\n#include "core/file.h"\n',
    "src/formats/list.cc": SPDX + "extern const FormatInfo kNpy;\nreturn {&kNpy};\n",
    "src/formats/npy.cc": SPDX + 'const FormatInfo kNpy{\n    .extensions = ".npy"};\n',
    "src/calibrators/list.cc": SPDX + "extern const CalibratorInfo kTs;\nreturn {&kTs};\n",
    "src/calibrators/ts.cc": SPDX + '#include "kernels/nll.h"\n// Slope (T2).\n'
                                    'extern constinit const CalibratorInfo kTs{\n'
                                    '    .name = "ts", .page = "temperature"};\n',
    "src/calibrators/ts_test.cc": SPDX + '#include "tests/support/scene.h"\n// (T1, T2) and (T1)\n',
    "src/metrics/list.cc": SPDX + "return {&kScores};\n",
    "src/metrics/scores.cc": SPDX + 'constexpr MetricNumber kNumbers[] = {\n    {"nll", "(P1)"}};\n'
                                    'const MetricInfo kScores{.name = "scores"};\n',
    "src/metrics/scores_test.cc": SPDX + "// (P1)\n",
    "docs/methods/scores.md": "| `nll` | 1/n sum | (P1) | low |\n",
    "src/optim/box.h": SPDX + BOX,
    "src/simulate/box.cc": SPDX + "namespace segcal {\nnamespace {\nstruct Box {\n};\n"
                                  "}  // namespace\n}  // namespace segcal\n",
    "src/optim/newton.cc": SPDX + "#include <Eigen/Core>\n",
    "src/kernels/nll_for_test.h": SPDX + '#include "tests/support/scene.h"\n',
    "src/kernels/nll_for_test.cc": SPDX + '#include "data/stream.h"\n#include <thread>\n',
    "src/kernels/nll_test.cc": SPDX + '#include "kernels/nll_for_test.h"\n',
    "cli/main.cc": SPDX + '#include <unistd.h>\n#include <CLI/CLI.hpp>\n#include <fmt/format.h>\n'
                          '#include <vector>\n#include "cli/command.h"\n#include "segcal/model.h"\n',
    "mpi/link.cc": SPDX + '#include <mpi.h>\n#include "core/ranks.h"\n',
    "train/losses/batch.cc": SPDX + '#include <torch/types.h>\n#include "core/file.h"\n',
    "docs/methods/temperature.md": "`ts` minimises\n\n    L = sum   (T1)\n\n$$ x \\tag{T2} $$\n",
    "docs/architecture.md": "| `error`, `model` | public headers |\n",
    "docs/formats.md": "`.npy` holds one array.\n",
}


@pytest.fixture(name="tree")
def fixture_tree(tmp_path):
    """A small source tree that breaks no rule; returns a function that plants a file in it."""
    def plant(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return tmp_path
    for name, content in CLEAN.items():
        plant(name, content)
    return plant


ALL = [dependencies, equations, manners, method_files, one_definition, public_headers]


@pytest.mark.parametrize("check", ALL, ids=lambda check: check.__name__)
def test_clean_tree_passes(check, tree):
    assert check.violations(tree("README.md", "fine\n")) == []


PATH_OF_ONE_MACHINE = "see /" + "home/someone/data\n"
MARK = "// TO" + "DO later\n"
VS = "const CalibratorInfo kVs{};\n"
PLANTED = [
    (dependencies, "src/core/a.h", '#include "kernels/nll.h"\n', "must not include kernels/"),
    (dependencies, "src/optim/a.cc", '#include "formats/npy.h"\n', "must not include formats/"),
    (dependencies, "src/data/a.cc", "#include <thread>\n", "must not include thread"),
    (dependencies, "src/report/a.cc", '#include "hwy/highway.h"\n', "must not include hwy/"),
    (dependencies, "src/report/a.cc", "#include <png.h>\n", "must not include png.h"),
    (dependencies, "src/core/a.cc", '#include "tests/support/scene.h"\n', "must not"),
    (dependencies, "src/newcomer/a.cc", "\n", "folder has no level"),
    (dependencies, "src/methods/affine/a.cc", "#include <Eigen/Core>\n", "must not include Eigen/"),
    (dependencies, "src/core/tests.cc", '#include "kernels/nll.h"\n', "must not include kernels/"),
    (dependencies, "src/core/test_a.h", '#include "kernels/nll.h"\n', "must not include kernels/"),
    (dependencies, "src/core/latest.cc", '#include "kernels/nll.h"\n', "must not include kernels/"),
    (dependencies, "src/kernels/a.cc", '#include "kernels/nll_for_test.h"\n', "nll_for_test.h"),
    (dependencies, "cli/a.cc", '#include "core/file.h"\n', "must not include core/"),
    (dependencies, "src/optim/a.cc", "#include <torch/types.h>\n", "must not include torch/"),
    (dependencies, "src/core/a.cc", '#include "train/net/unet.h"\n', "must not include train/"),
    (dependencies, "cli/a.cc", "#include <torch/types.h>\n", "must not include torch/"),
    (dependencies, "train/a.cc", '#include "core/a_for_test.h"\n', "must not include core/a_for_test"),
    (dependencies, "cli/b.cc", "#include <mpi.h>\n", "must not include mpi.h"),
    (method_files, "train/losses/ce.cc", "extern constinit const LossInfo kCe{};\n", "does not name kCe"),
    (dependencies, "cli/a.h", '#include "report/table.h"\n', "must not include report/"),
    (dependencies, "cli/a_test.cc", '#include "pipeline/fit.h"\n', "must not include pipeline/"),
    (dependencies, "cli/a.cc", '#include "src/core/file.h"\n', "must not include src/core/"),
    (dependencies, "cli/a.cc", "#include <core/file.h>\n", "must not include core/"),
    (dependencies, "cli/a.cc", "#include <Eigen/Core>\n", "must not include Eigen/"),
    (dependencies, "cli/a.cc", "#include <thread>\n", "must not include thread"),
    (dependencies, "python/src/bind_fit.cc", '#include "pipeline/fit.h"\n', "must not include"),
    (equations, "src/core/a.h", "// The slope (T9).\n", "cites (T9)"),
    (equations, "src/core/a_test.cc", "// From (T1, T8).\n", "cites (T8)"),
    (equations, "docs/methods/other.md", "    M = 0   (T1)\n", "(T1) is defined 2 times"),
    (manners, "src/core/a.cc", "#include <vector>\n", "first line lacks"),
    (manners, "scripts/a", "#!/bin/sh\necho\n", "first line lacks"),
    (manners, "src/page/web/a.js", "start();\n", "first line lacks"),
    (manners, "scripts/a", "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n", "not executable"),
    (manners, "docs/a.md", PATH_OF_ONE_MACHINE, "docs/a.md:1: a path of one machine"),
    (manners, "src/core/a.cc", SPDX + MARK, "src/core/a.cc:2: an unfinished mark"),
    (method_files, "src/calibrators/help.cc", SPDX, "has no descriptor"),
    (method_files, "src/calibrators/vs.cc", VS, "does not name kVs"),
    (method_files, "src/calibrators/vs.cc", VS, "vs_test.cc is missing"),
    (method_files, "src/calibrators/vs.cc", VS, "methods/vs.md is missing"),
    (method_files, "src/calibrators/list.cc", "{&kTs, &kGone};\n", "names kGone"),
    (method_files, "docs/methods/temperature.md", "nothing\n", "does not mention `ts`"),
    (method_files, "docs/methods/scores.md", "`scores`\n", "does not mention `nll`"),
    (equations, "docs/methods/scores.md", "see (P1) and others\n", "cites (P1)"),
    (method_files, "docs/formats.md", "nothing\n", "does not mention .npy"),
    (one_definition, "src/report/box.h", BOX, "segcal::Box is also defined in src/optim/box.h"),
    (one_definition, "src/core/a.cc", "namespace segcal {\nclass Box final : A {\n", "in src/core/a.cc"),
    (public_headers, "include/segcal/a.h", "#include <fmt/core.h>\n", "must not include fmt/"),
    (public_headers, "include/segcal/a.h", "#include <png.h>\n", "must not include png.h"),
    (public_headers, "include/segcal/a.h", '#include "core/file.h"\n', "must not include core/"),
    (public_headers, "include/segcal/a.h", '#include "segcal/gone.h"\n', "must not include"),
    (public_headers, "include/segcal/a.h", "\n", "does not name the header `a`"),
]


@pytest.mark.parametrize("check,name,content,complaint", PLANTED)
def test_planted_violation_is_caught(check, name, content, complaint, tree):
    found = check.violations(tree(name, content))
    assert any(complaint in line for line in found), found


def test_too_many_public_headers_are_counted(tree):
    for number in range(public_headers.MAX_HEADERS):
        root = tree(f"include/segcal/h{number}.h", SPDX)
    assert any("public headers" in line for line in public_headers.violations(root))
