# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/losses_study.md from the folders that bench/loss_study.py leaves.

    bench/loss_tables.py FOLDER...

Of a study that is not finished, the seeds that all of its losses have are shown, and the variants of as many seeds.
"""

import json
import sys
from pathlib import Path

import numpy as np
from loss_study import ABLATION, LOSSES

# Name, header, digits, whether high is good: as Table 1 of the paper has them.
PAPER = [("dsc", "DSC", 3, True), ("hd95", "HD95", 2, False), ("ece", "ECE", 3, False), ("classwise_ece", "CECE", 3, False)]
POST_HOC = [("nll", "NLL", 4), ("ece", "ECE", 4)]


def load(folder):
    """Name of the loss or variant: what its seeds gave, by seed."""
    found = {}
    for path in folder.glob("*/metrics.json"):
        content = json.loads(path.read_text())
        found.setdefault(content["configuration"], {})[content["seed"]] = content["metrics"]
    return found


def common_seeds(results, names):
    """The seeds that all of the names have, and of each what these gave."""
    seeds = sorted(set.intersection(*(set(results[name]) for name in names)))
    return seeds, {name: [results[name][seed] for seed in seeds] for name in names}


def in_order(names):
    """As bench/loss_study.py lists them, others behind."""
    listed = [*LOSSES.split(","), *ABLATION]
    return sorted(names, key=lambda name: listed.index(name) if name in listed else len(listed))


def number(value):
    """A metric as a float; NaN where a case has none."""
    return np.nan if value is None else float(value)


def means(seeds, group, pipeline, metric):
    """The mean over cases of every seed."""
    return np.array([number(seed[group][pipeline]["mean"][metric]) for seed in seeds])


def cases(seeds, group, pipeline, metric):
    """The values of all cases of all seeds."""
    return np.array([number(case.get(metric)) for seed in seeds for case in seed[group][pipeline]["cases"]])


def ranks(values, high):
    """1 is best; ties share the mean of their places, and what is not defined comes last."""
    values = np.where(np.isnan(values), -np.inf if high else np.inf, values)
    keys = -values if high else values
    return np.array([(keys < key).sum() + ((keys == key).sum() + 1) / 2 for key in keys])


def both_ranks(results, group):
    """The sum of the ranks of the means, and the mean over cases and metrics of the rank of each case."""
    total = sum(ranks(np.array([means(seeds, group, "none(z)", metric).mean() for seeds in results.values()]), high)
                for metric, _, _, high in PAPER)
    of_cases = [ranks(column, high) for metric, _, _, high in PAPER
                for column in np.array([cases(seeds, group, "none(z)", metric) for seeds in results.values()]).T]
    return total, np.mean(of_cases, axis=0)


def marked(cells, values, high):
    """The best cell bold, the second underlined as far as Markdown has it: italic."""
    order = np.argsort(ranks(values, high), kind="stable")
    cells[order[0]] = f"**{cells[order[0]]}**"
    if len(cells) > 2:
        cells[order[1]] = f"*{cells[order[1]]}*"
    return cells


def markdown(headers, rows):
    return "\n".join(["| " + " | ".join(headers) + " |", "|" + "---|" * len(headers),
                      *("| " + " | ".join(row) + " |" for row in rows)])


def table_of_losses(sets, group):
    """Sets side by side, losses below each other; the last row is how far seeds are apart, where there are several."""
    names = [name for name in next(iter(sets.values())) if all(name in results for results in sets.values())]
    headers, columns, spreads = ["loss"], [[f"`{name}`" for name in names]], ["spread of seeds"]
    for set_name, results in sets.items():
        if group not in next(iter(results.values()))[0]:
            continue
        chosen = {name: results[name] for name in names}
        for metric, header, digits, high in PAPER:
            values = np.array([means(seeds, group, "none(z)", metric) for seeds in chosen.values()])
            headers.append(f"{set_name} {header}")
            columns.append(marked([f"{value:.{digits}f}" for value in values.mean(1)], values.mean(1), high))
            if values.shape[1] > 1:
                spreads.append(f"{values.std(1, ddof=1).mean():.{digits}f}")
    return markdown(headers, [*zip(*columns), *([spreads] if len(spreads) > 1 else [])])


def table_of_ranks(sets, group):
    names = [name for name in next(iter(sets.values())) if all(name in results for results in sets.values())]
    headers, columns = ["loss"], [[f"`{name}`" for name in names]]
    sums, by_case = [], []
    for set_name, results in sets.items():
        if group not in next(iter(results.values()))[0]:
            continue
        total, mean = both_ranks({name: results[name] for name in names}, group)
        headers += [f"{set_name}, sum", f"{set_name}, by case"]
        columns += [[f"{value:g}" for value in total], [f"{value:.2f}" for value in mean]]
        sums.append(total)
        by_case.append(mean)
    headers += ["all, sum", "all, by case"]
    for values, digits in ((np.sum(sums, axis=0), 1), (np.mean(by_case, axis=0), 2)):
        columns.append(marked([f"{value:.{digits}f}" for value in values], values, False))
    return markdown(headers, zip(*columns))


def table_of_calibrators(results, group, metric, digits):
    pipelines = list(next(iter(results.values()))[0][group])
    rows = []
    for name, seeds in results.items():
        values = np.array([means(seeds, group, pipeline, metric).mean() for pipeline in pipelines])
        rows.append([f"`{name}`", *marked([f"{value:.{digits}f}" for value in values], values, False)])
    return markdown(["loss", *(f"`{pipeline}`" for pipeline in pipelines)], rows)


def losses_and_variants(results, base="nacl"):
    """The names of losses, and of the variants of one of them, that one first."""
    changed = [name for name in ABLATION if name in results]
    return [name for name in results if name not in ABLATION], [base, *changed] if changed and base in results else []


def main():
    sets, variants = {}, {}
    for folder in map(Path, sys.argv[1:]):
        results = load(folder)
        names, changed = losses_and_variants(results)
        seeds, sets[folder.name] = common_seeds(results, in_order(names))
        print(f"{folder.name}: {len(names)} losses, seeds {seeds}")
        if changed:
            seeds, variants[folder.name] = common_seeds(results, in_order(changed))
            print(f"{folder.name}: {len(changed)} variants, seeds {seeds}")
    for group, header in (("test paper", "test"), ("shift paper", "shift")):
        shown = {name: results for name, results in sets.items() if group in next(iter(results.values()))[0]}
        if shown:
            print(f"\n### Losses, split {header}\n\n{table_of_losses(shown, group)}")
            print(f"\n### Ranks, split {header}\n\n{table_of_ranks(shown, group)}")
    for name, results in variants.items():
        print(f"\n### Variants of nacl on {name}, split test\n\n{table_of_losses({name: results}, 'test paper')}")
    for name, results in sets.items():
        for group in ("test all", "shift all"):
            if group not in next(iter(results.values()))[0]:
                continue
            for metric, header, digits in POST_HOC:
                print(f"\n### {name}, split {group.split()[0]}, {header}\n")
                print(table_of_calibrators(results, group, metric, digits))


if __name__ == "__main__":
    main()
