# SPDX-License-Identifier: Apache-2.0
"""Every method has its file, its test, its page and its name in the one list."""

import re

from repository import files, run, text

DESCRIPTOR = re.compile(r"^(?:extern )?(?:constinit )?const \w+Info (k\w+)\s*(?:\{|=)",
                        re.MULTILINE)
LISTED = re.compile(r"&(k\w+)")
NAME = re.compile(r'\.name = "([^"]+)"')
NUMBERS = re.compile(r"MetricNumber \w+\[\] = \{(.*?)\};", re.DOTALL)
PAGE = re.compile(r'\.page = "([^"]+)"')


def methods(root, folder):
    """The method files of a folder: neither tests nor the list."""
    sources = files(root, f"{folder}/*.cc")
    return [p for p in sources if not p.stem.endswith("_test") and p.stem != "list"]


def unlisted(root, folder):
    """Differences between the descriptors that files define and those that list.cc names."""
    path = root / folder / "list.cc"
    listed = set(LISTED.findall(text(path))) if path.is_file() else set()
    defined = {name for source in methods(root, folder)
               for name in DESCRIPTOR.findall(text(source))}
    return [f"{folder}/list.cc: does not name {name}" for name in sorted(defined - listed)] + \
           [f"{folder}/list.cc: names {name}, which no file defines"
            for name in sorted(listed - defined)]


def names(source):
    """What a user calls the methods of a file: its calibrators, or each number of its metrics."""
    table = NUMBERS.search(text(source))
    return re.findall(r'\{"(\w+)"', table.group(1)) if table else NAME.findall(text(source))


def incomplete(root, source):
    """What a method file lacks: a descriptor, a test, a page that speaks of it."""
    relative = source.relative_to(root)
    found = []
    if not DESCRIPTOR.search(text(source)):
        found.append(f"{relative}: has no descriptor; shared code belongs in kernels/ or optim/")
    if not source.with_name(f"{source.stem}_test.cc").is_file():
        found.append(f"{relative}: {source.stem}_test.cc is missing beside it")
    pages = [root / "docs" / "methods" / f"{stem}.md"
             for stem in PAGE.findall(text(source)) or [source.stem]]
    missing = [f"{relative}: its page {page.relative_to(root)} is missing"
               for page in pages if not page.is_file()]
    if missing:
        return found + missing
    described = "".join(text(page) for page in pages)
    return found + [f"{relative}: its page does not mention `{name}`"
                    for name in names(source) if f"`{name}" not in described]


def undocumented_formats(root):
    """File extensions in the format descriptors that docs/formats.md does not mention."""
    page = root / "docs" / "formats.md"
    described = text(page) if page.is_file() else ""
    found = []
    for source in methods(root, "src/formats"):
        for extensions in re.findall(r'\.extensions = "([^"]+)"', text(source)):
            found += [f"docs/formats.md: does not mention {extension} of {source.relative_to(root)}"
                      for extension in extensions.split() if f"`{extension}" not in described]
    return found


def violations(root):
    """Formats keep helpers of their own beside them; calibrators and metrics may not."""
    found = undocumented_formats(root)
    for folder in ["src/formats", "src/calibrators", "src/metrics", "src/corrupt", "src/fuse", "train/losses"]:
        found += unlisted(root, folder)
    for folder in ["src/calibrators", "src/metrics"]:
        for source in methods(root, folder):
            found += incomplete(root, source)
    return found


if __name__ == "__main__":
    run(violations)
