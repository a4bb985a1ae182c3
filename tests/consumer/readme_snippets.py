# SPDX-License-Identifier: Apache-2.0
"""readme_snippets.py ROOT OUT: the C++ and C blocks of the pages, verbatim, as OUT/<page>_<n>.cc and .c."""

import pathlib
import re
import sys

PAGES = {"README.md": ("cpp", "c"), "docs/cpp.md": ("cpp",), "docs/c.md": ("c",)}
ENDINGS = {"cpp": "cc", "c": "c"}


def snippets(text, language):
    """The contents of the fenced blocks in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def main(root, out):
    folder = pathlib.Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    for page, languages in PAGES.items():
        text = (pathlib.Path(root) / page).read_text(encoding="utf-8")
        for language in languages:
            blocks = snippets(text, language)
            if not blocks:
                sys.exit(f"{page}: has no {language} block")
            for number, block in enumerate(blocks):
                name = f"{pathlib.Path(page).stem}_{number}.{ENDINGS[language]}"
                (folder / name).write_text(block, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
