# SPDX-License-Identifier: Apache-2.0
"""Every equation number cited in a comment stands in docs/methods/, once.

An equation is defined where its number, in parentheses or as \\tag{T2}, ends a line of a method's
page, `L(b) = ...   (T2)`, or fills a cell of a table, `| (T2) |`. It is cited in a C++ comment as
(T2), or several as (T2, T3) or (T2-T4).
"""

import re
from collections import defaultdict

from repository import files, run, text

CITING = ["include", "src", "cli", "mpi", "train", "tests", "bench"]
NUMBER = r"[A-Z]{1,4}[0-9]{1,2}"
DEFINED = re.compile(rf"(?:\(({NUMBER})\)|\\tag\{{({NUMBER})\}})[ .,;`$\\]*$"
                     rf"|\| *\(({NUMBER})\) *(?=\|)", re.MULTILINE)
COMMENT = re.compile(r"//.*$", re.MULTILINE)
CITED = re.compile(rf"\(({NUMBER}(?:(?:, ?| and |-|–){NUMBER})*)\)")


def definitions(root):
    """Equation number -> pages that define it."""
    pages = defaultdict(list)
    for path in files(root, "docs/methods/*.md"):
        for numbers in DEFINED.findall(text(path)):
            pages["".join(numbers)].append(path.relative_to(root))
    return pages


def citations(path):
    """Equation numbers named in the comments of a file."""
    comments = "\n".join(COMMENT.findall(text(path)))
    return sorted({number for group in CITED.findall(comments)
                   for number in re.findall(NUMBER, group)})


def violations(root):
    """One line per number defined twice, and per citation of an undefined one."""
    pages = definitions(root)
    found = [f"equation ({number}) is defined {len(where)} times: {', '.join(map(str, where))}"
             for number, where in sorted(pages.items()) if len(where) > 1]
    for path in files(root, *(f"{top}/**/*.{end}" for top in CITING for end in ["h", "cc"])):
        where = path.relative_to(root)
        found += [f"{where}: cites ({number}), which no page of docs/methods has"
                  for number in citations(path) if number not in pages]
    return found


if __name__ == "__main__":
    run(violations)
