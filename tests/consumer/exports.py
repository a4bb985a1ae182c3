# SPDX-License-Identifier: Apache-2.0
"""exports.py LIBRARY INCLUDE: a shared library shows every name that its headers mark, and no other."""

import pathlib
import re
import subprocess
import sys

MARKED = re.compile(r"^(?:class |struct )?SEGCAL_EXPORT\b[^;{=]*?(\w+)\s*(?:\(| : |\{| \{)", re.MULTILINE)
CLASS = re.compile(r"^(?:class|struct) SEGCAL_EXPORT (\w+)", re.MULTILINE)
UNMARKED = re.compile(r"^(?!SEGCAL_EXPORT|class|struct|enum|using|constexpr|inline|template|#|//|namespace|})"
                      r"\w[\w:<>,& *]* [*&]*(\w+)\(", re.MULTILINE)


def headers(include):
    """The text of all headers."""
    return "".join(p.read_text(encoding="utf-8") for p in sorted(pathlib.Path(include).rglob("*.h")))


def marked(include):
    """Functions and classes of namespace segcal that headers mark."""
    return set(MARKED.findall(headers(include))) | set(CLASS.findall(headers(include)))


def shown(library):
    """The first name after segcal:: of every symbol a program can link."""
    symbols = subprocess.run(["nm", "-DC", "--defined-only", library], check=True,
                             capture_output=True, text=True).stdout
    lines = [line.split(maxsplit=2)[2] for line in symbols.splitlines() if len(line.split()) > 2]
    lines += [f"segcal::{line}" for line in lines if line.startswith("segcal_")]  # of the C interface
    own = [re.match(r"(?:(?:vtable|typeinfo|typeinfo name) for )?segcal::(?:\(anonymous namespace\)::)?(\w+)",
                    line) for line in lines]
    return {match.group(1) for match in own if match}


def main(library, include):
    wanted, found = marked(include), shown(library)
    for name in sorted(found - wanted):
        print(f"{library}: shows {name}, which no header marks")
    for name in sorted(wanted - found):
        print(f"{library}: hides {name}, which a header marks")
    forgotten = UNMARKED.findall(headers(include))
    for name in forgotten:
        print(f"{include}: declares {name} without SEGCAL_EXPORT")
    sys.exit(found != wanted or bool(forgotten))


if __name__ == "__main__":
    main(*sys.argv[1:])
