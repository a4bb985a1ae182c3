# SPDX-License-Identifier: Apache-2.0
"""readme_snippets.py README.md OUT: the C++ and C blocks of the README, verbatim, as OUT/snippet_<n>.cc and .c."""

import pathlib
import re
import sys


def snippets(text, language):
    """The contents of the fenced blocks in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def main(readme, out):
    folder = pathlib.Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    for language, ending in (("cpp", "cc"), ("c", "c")):
        blocks = snippets(pathlib.Path(readme).read_text(encoding="utf-8"), language)
        if not blocks:
            sys.exit(f"{readme}: has no {language} block")
        for number, block in enumerate(blocks):
            (folder / f"snippet_{number}.{ending}").write_text(block, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
