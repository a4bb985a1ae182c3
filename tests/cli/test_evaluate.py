# SPDX-License-Identifier: Apache-2.0
"""What `evaluate` writes beside its table: CSV, groups, cells, chosen families."""

import csv
import json
import math

import numpy as np
import pytest
from program import describe, evaluate, fails, random_case, run, save_case, small_dataset


def rows_of(path):
    """A CSV file as dictionaries."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def number(text):
    """A field; empty is NaN."""
    return float(text) if text else math.nan


def grouped_dataset(folder):
    """Four cases in three groups, one of which is a case of its own."""
    rng = np.random.default_rng(3)
    entries = []
    for k, group in enumerate(["a", "b, \"c\"", "a", None]):
        members, labels = random_case(rng, 3, (20 + k, 15))
        fields = {} if group is None else {"group": group}
        entries.append(save_case(folder, f"case{k}", members, labels, **fields))
    return describe(folder, entries, 3, background=0)


def test_csv_holds_the_numbers_of_the_json_file(tmp_path):
    dataset = grouped_dataset(tmp_path)
    run("evaluate", dataset, "-p", "none(z)", "-p", "none(p)", "-o", tmp_path / "m.json", "--csv",
        tmp_path / "m.csv", "--quiet")
    rows = rows_of(tmp_path / "m.csv")
    pipelines = json.loads((tmp_path / "m.json").read_text())["pipelines"]
    for pipeline in pipelines:
        mine = [row for row in rows if row["pipeline"] == pipeline["pipeline"]]
        cases = [row for row in mine if row["level"] == "case"]
        assert [row["case"] for row in cases] == ["case0", "case1", "case2", "case3"]
        assert [row["group"] for row in cases] == ["a", "b, \"c\"", "a", ""]
        for row, case in zip(cases, pipeline["metric_per_case"], strict=True):
            for name, value in case["metrics"].items():
                assert row[name] == "" if value is None else float(row[name]) == value
            assert number(row["dsc:c1"]) == case["per_class"]["dsc"][1]
        (mean,) = [row for row in mine if row["level"] == "mean"]
        assert number(mean["nll"]) == pipeline["mean"]["nll"]


def test_groups_are_pooled_and_averaged(tmp_path):
    dataset = grouped_dataset(tmp_path)
    pipeline = evaluate(dataset, "-p", "none(z)")["pipelines"][0]
    groups = pipeline["groups"]
    assert [group["group"] for group in groups] == ["a", "b, \"c\"", "case3"]
    assert [group["cases"] for group in groups] == [2, 1, 1]
    cases = [row["metrics"] for row in pipeline["metric_per_case"]]
    assert groups[0]["mean"]["nll"] == pytest.approx((cases[0]["nll"] + cases[2]["nll"]) / 2)
    for name in ("nll", "ece", "dsc"):
        assert groups[1]["pooled"][name] == cases[1][name]
        over_groups = np.mean([group["pooled"][name] for group in groups])
        assert pipeline["group_mean"][name] == pytest.approx(over_groups, rel=1e-12)
    # The pooled group is what its cases alone give.
    content = json.loads(dataset.read_text())
    content["cases"] = [content["cases"][0], content["cases"][2]]
    (tmp_path / "a.json").write_text(json.dumps(content))
    alone = evaluate(tmp_path / "a.json", "-p", "none(z)")["pipelines"][0]
    assert groups[0]["pooled"] == alone["pooled"]


def test_without_groups_there_are_none(tmp_path):
    pipeline = evaluate(small_dataset(tmp_path), "-p", "none(z)")["pipelines"][0]
    assert pipeline["groups"] == [] and pipeline["group_mean"] == {}


@pytest.mark.parametrize("bins", [5, 12, 20, 100])
def test_cells_give_errors_with_other_bins(tmp_path, bins):
    dataset = small_dataset(tmp_path)
    run("evaluate", dataset, "-p", "none(z)", "--cells", tmp_path / "c.csv", "--quiet")
    cells = rows_of(tmp_path / "c.csv")
    result = evaluate(dataset, "-p", "none(z)", "--set", f"bins={bins}")["pipelines"][0]
    for case in result["metric_per_case"]:
        mine = [row for row in cells if row["case"] == case["case"]]
        assert case["metrics"]["ece"] == pytest.approx(
            ece_of([row for row in mine if row["kind"] == "predicted"], bins), rel=1e-9)
        for c in range(4):
            own = [row for row in mine if (row["kind"], row["class"]) == ("one_vs_rest", f"c{c}")]
            assert case["per_class"]["classwise_ece"][c] == pytest.approx(ece_of(own, bins),
                                                                          rel=1e-9)


def ece_of(cells, bins):
    """ECE with (lo, hi] bins from cells: a cell lies in the bin of its smallest float32."""
    edges = (np.arange(1, bins) / bins).astype(np.float32)
    lower = np.array([np.float32(row["lower"]) for row in cells])
    which = np.searchsorted(edges, lower, side="left")
    gap = [float(row["confidence_sum"]) - int(row["correct"]) for row in cells]
    return np.abs(np.bincount(which, gap, bins)).sum() / sum(int(row["count"]) for row in cells)


def test_families_can_be_chosen(tmp_path):
    dataset = small_dataset(tmp_path)
    chosen = evaluate(dataset, "-p", "none(z)", "--metrics", "scores,overlap")["pipelines"][0]
    assert set(chosen["pooled"]) == {"nll", "brier", "entropy", "accuracy", "confidence",
                                     "over_confidence", "dsc", "miou"}
    assert chosen["reliability"] == [] and chosen["risk_coverage"] == []
    assert "tace" not in evaluate(dataset, "-p", "none(z)")["pipelines"][0]["pooled"]
    assert "tace" in evaluate(dataset, "-p", "none(z)", "--metrics", "all")["pipelines"][0]["pooled"]
    table = run("evaluate", dataset, "-p", "none(z)", "--metrics", "scores", "--quiet").stdout
    assert "NLL" in table and "entropy" in table and "ECE" not in table
    assert "families are scores" in fails(2, "evaluate", dataset, "--metrics", "colour")


def test_a_metric_that_is_named_is_computed_and_shown_alone(tmp_path):
    dataset = small_dataset(tmp_path)
    options = ["-p", "none(z)", "--metrics", "hd95,ece"]
    computed = evaluate(dataset, *options)["pipelines"][0]["pooled"]
    assert "hd95" in computed and "ece" in computed and "nll" not in computed
    header = run("evaluate", dataset, *options, "--quiet").stdout.splitlines()[2]
    assert header.split() == ["pipeline", "HD95", "↓", "ECE", "↓"]


def test_tables_can_be_pasted(tmp_path):
    dataset = small_dataset(tmp_path, num_members=2)
    options = ["-p", "none(z)", "-p", "none(p)", "--metrics", "nll,dsc", "--quiet"]
    means = [row["mean"] for row in evaluate(dataset, *options)["pipelines"]]
    markdown = run("evaluate", dataset, *options, "--table", "markdown").stdout.splitlines()
    assert markdown[0] == "| pipeline | NLL ↓ | DSC % ↑ |" and len(markdown) == 4
    for row, mean in zip(markdown[2:], means, strict=True):
        cells = [cell.strip(" *") for cell in row.split("|")[2:4]]
        assert cells == [f"{mean['nll']:.4f}", f"{100 * mean['dsc']:.2f}"]
    latex = run("evaluate", dataset, *options, "--table", "latex").stdout
    assert latex.startswith("\\begin{tabular}{lrr}\n") and latex.count("\\textbf{") >= 2
    table = run("evaluate", dataset, *options, "--table", "csv").stdout
    rows = list(csv.DictReader(table.splitlines()))
    assert [float(row["NLL"]) for row in rows] == [mean["nll"] for mean in means]


def test_the_default_table_is_narrow(tmp_path):
    lines = run("evaluate", small_dataset(tmp_path), "--quiet").stdout.splitlines()
    assert max(map(len, lines)) <= 100


def test_statistics_are_printed_and_written(tmp_path):
    dataset = small_dataset(tmp_path, num_cases=6, num_members=2)
    text = run("evaluate", dataset, "-p", "none(z0)", "-p", "none(z)", "-p", "none(p)", "--quiet",
               "--statistics", "--reference", "none( z )", "--metrics", "nll,ece",
               "-o", tmp_path / "m.json", "--csv", tmp_path / "m.csv").stdout
    assert "Differences: pipeline less none(z)" in text and "adjusted for 4 tests" in text
    assert "sum-rank" in text and "Ranks by NLL, ECE." in text
    statistics = json.loads((tmp_path / "m.json").read_text())["statistics"]
    rows = rows_of(tmp_path / "m.csv")
    for mine in statistics["pipelines"]:
        level = {row["level"]: row for row in rows if row["pipeline"] == mine["pipeline"]}
        for name, interval in mine["intervals"].items():
            assert number(level["mean"][name]) == pytest.approx(interval["estimate"], nan_ok=True)
            for bound in ("lower", "upper"):
                found = level[bound][name]
                assert found == "" if interval[bound] is None else float(found) == interval[bound]
        for name, comparison in mine["comparisons"].items():
            assert float(level["difference"][name]) == comparison["difference"]
            assert float(level["difference_upper"][name]) == comparison["upper"]
            assert float(level["p_adjusted"][name]) == comparison["p_adjusted"]
    assert [bool(mine["comparisons"]) for mine in statistics["pipelines"]] == [True, False, True]


def test_what_cannot_differ_is_said_and_not_tested(tmp_path):
    """A temperature keeps the decision; the unpaired test is an option."""
    dataset = grouped_dataset(tmp_path)
    run("fit", dataset, "-p", "ts(z)", "-o", tmp_path / "ts.json", "--quiet")
    command = ["evaluate", dataset, "-p", "none(z)", "-m", tmp_path / "ts.json", "--statistics",
               "--metrics", "nll,dsc", "--quiet"]
    text = run(*command).stdout
    assert "equal by construction" in text
    assert "p: Wilcoxon signed-rank test of the differences; adjusted for 1 test (" in text
    assert "Ranks by NLL.\n" in text
    assert "p: Mann-Whitney U, unpaired" in run(*command, "--test", "mann_whitney").stdout
    statistics = json.loads(run(*command, "--json").stdout)["statistics"]
    comparison = statistics["pipelines"][1]["comparisons"]["dsc"]
    assert comparison["equal_by_construction"] and comparison["p"] is None
    assert "wilcoxon" in fails(2, *command, "--test", "t")


def test_statistics_do_not_depend_on_threads(tmp_path):
    dataset = small_dataset(tmp_path, num_cases=5)
    texts = [run("evaluate", dataset, "--statistics", "--quiet", "--json", "--threads", threads)
             .stdout for threads in (1, 2, 3)]
    assert len(set(texts)) == 1


def test_an_unknown_reference_is_told_before_the_work(tmp_path):
    dataset = small_dataset(tmp_path)
    (tmp_path / "case0_m0.npy").unlink()
    message = fails(2, "evaluate", dataset, "--reference", "none(p)", "--quiet")
    assert "none(p)" in message and "there are none(z)" in message


def test_patches_are_swept_in_one_pass(tmp_path):
    dataset = small_dataset(tmp_path)
    swept = evaluate(dataset, "--metrics", "local", "--set", "patch=7", "--set", "patch_sweep=5,12")
    for row in swept["pipelines"][0]["patch_sweep"]:
        alone = evaluate(dataset, "--metrics", "local", "--set", f"patch={row.pop('patch')}")
        assert alone["pipelines"][0]["pooled"] == row
    table = run("evaluate", dataset, "--metrics", "local", "--set", "patch_sweep=5,12",
                "--quiet").stdout
    assert "ECE max" in table


def test_an_option_goes_to_every_family_that_knows_it(tmp_path):
    dataset = small_dataset(tmp_path)
    one = evaluate(dataset, "-p", "none(z)", "--set", "bins=1")["pipelines"][0]["pooled"]
    many = evaluate(dataset, "-p", "none(z)")["pipelines"][0]["pooled"]
    assert one["ece"] < many["ece"] and one["classwise_ece"] < many["classwise_ece"]
    assert "no metric has the option" in fails(2, "evaluate", dataset, "--set", "colour=blue")


def test_figures_without_calibration_families(tmp_path):
    dataset = small_dataset(tmp_path)
    run("evaluate", dataset, "-p", "none(z)", "--metrics", "scores", "--figures", tmp_path / "f",
        "--quiet")
    assert [path.name for path in (tmp_path / "f").iterdir()] == ["case.svg"]


def test_figures_of_all_families(tmp_path):
    run("evaluate", small_dataset(tmp_path), "--metrics", "all", "--figures", tmp_path / "f", "--quiet")
    names = {path.name for path in (tmp_path / "f").iterdir()}
    assert names == {"case.svg", "confusion.svg", "reliability.svg", "reliability_classes.svg",
                     "reliability_regions.svg", "risk_coverage.svg"}
    regions = (tmp_path / "f" / "reliability_regions.svg").read_text()
    assert "Local: worst patch" in regions and "Boundary: within 2 voxels" in regions


def test_figures_have_what_they_compare_with(tmp_path):
    """A model of pooling p beside a baseline of z: the uncalibrated prediction of p is added."""
    dataset = small_dataset(tmp_path)
    run("fit", dataset, "-p", "ts(p)", "-o", tmp_path / "ts.json", "--quiet")
    text = run("evaluate", dataset, "-p", "none(z)", "-m", tmp_path / "ts.json", "--figures",
               tmp_path / "f", "--quiet").stdout
    assert "none(p)" in text
    for name in ("reliability", "reliability_classes", "reliability_regions", "risk_coverage", "case"):
        assert "none(p)" in (tmp_path / "f" / f"{name}.svg").read_text(), name


def test_tables_of_classes_and_sorted_tables(tmp_path):
    dataset = small_dataset(tmp_path)
    run("fit", dataset, "-p", "ts(z)", "-o", tmp_path / "ts.json", "--quiet")
    command = ["evaluate", dataset, "-p", "none(z)", "-m", tmp_path / "ts.json", "--quiet"]
    plain, by_nll = run(*command), run(*command, "--sort", "nll", "--per-class")
    order = [line.split()[0] for line in by_nll.stdout.splitlines() if line.startswith(("none", "ts"))]
    assert order == ["ts(z)", "none(z)"]
    assert "class" not in plain.stdout and "voxels" in by_nll.stdout.split("cwECE")[1]
    latex = run(*command, "--per-class", "--table", "latex").stdout
    assert latex.count("\\begin{tabular}") == 2
    message = fails(2, *command, "--sort", "entropy")
    assert "--sort entropy" in message and "nll" in message


def test_the_table_of_regions(tmp_path):
    dataset = small_dataset(tmp_path)
    command = ["evaluate", dataset, "-p", "none(z)", "--metrics", "s2", "--quiet"]
    rows = run(*command, "--table", "csv").stdout.splitlines()
    assert rows[0] == "% ↓,pipeline,All,Boundary,Local-Avg,Local-Max"
    assert [row.split(",")[0] for row in rows[1:]] == ["ECE", "MCE", "SCE", "ACE"]
    found = json.loads(run(*command, "--json").stdout)["pipelines"][0]["mean"]
    assert float(rows[3].split(",")[3]) == 100.0 * found["sce_boundary"]
    assert "Local-Max" in run(*command).stdout


def test_a_folder_of_models_is_all_of_them_in_the_order_of_methods(tmp_path):
    dataset = small_dataset(tmp_path)
    run("fit", dataset, "-p", "ts(z)", "-p", "dc(z)", "-p", "ts(p)", "-o", tmp_path / "models",
        "--quiet")
    (tmp_path / "models" / "notes.txt").write_text("not a model")
    found = evaluate(dataset, "-p", "none(z)", "-m", tmp_path / "models")["pipelines"]
    assert [p["pipeline"].split("(")[0] for p in found] == ["none", "ts", "ts", "dc"]
    assert [p["pipeline"] for p in found[1:3]] == ["ts(p)", "ts(z)"]
    (tmp_path / "empty").mkdir()
    assert "empty" in fails(2, "evaluate", dataset, "-m", tmp_path / "empty")


def test_warns_of_cases_that_models_are_fitted_on(tmp_path):
    rng = np.random.default_rng(4)
    entries = []
    for k, split in enumerate(["calibration", "validation", "test", "test"]):
        members, labels = random_case(rng, 3, (20, 15))
        entries.append(save_case(tmp_path, f"case{k}", members, labels, split=split))
    dataset = describe(tmp_path, entries, 3)
    run("fit", dataset, "-p", "ts(z)", "-o", tmp_path / "m.json", "--quiet")

    def warning(*options):
        return run("evaluate", dataset, "--quiet", *options).stderr

    assert "2 of the 4 cases" in warning("-m", tmp_path / "m.json")
    assert "--split" in warning("-m", tmp_path / "m.json")
    assert warning("-m", tmp_path / "m.json", "--split", "test") == ""
    assert warning("-p", "none(z)") == ""


def test_one_voxel_has_surfaces(tmp_path):
    logits = np.array([2.0, 0.0, -1.0], np.float32).reshape(3, 1, 1)
    entries = [save_case(tmp_path, "hit", [logits], np.zeros((1, 1), np.uint8)),
               save_case(tmp_path, "miss", [logits], np.ones((1, 1), np.uint8))]
    dataset = describe(tmp_path, entries, 3)
    pipeline = evaluate(dataset, "-p", "none(z)", "--metrics", "surface")["pipelines"][0]
    hit, miss = (case["metrics"] for case in pipeline["metric_per_case"])
    assert hit["hd"] == 0.0 and hit["nsd"] == 1.0
    assert miss["nsd"] == pytest.approx(1 / 3)  # class 2 is in neither map
