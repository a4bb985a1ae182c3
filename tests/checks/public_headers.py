# SPDX-License-Identifier: Apache-2.0
"""Public headers need only the standard library and each other, and docs/architecture.md lists them."""

from repository import files, includes, run, text

MAX_HEADERS = 36


C_INTERFACE = "c.h"
C_HEADERS = ("stddef.h", "stdint.h")


def allowed(root, path, quote, header):
    """Standard headers have neither folder nor extension; those of C, which the interface for C alone needs, and of
    every library do."""
    if quote == "<" and path.name == C_INTERFACE:
        return header in C_HEADERS
    if quote == "<":
        return "/" not in header and "." not in header
    return header.startswith("segcal/") and (root / "include" / header).is_file()


def unlisted(root, headers):
    """Headers that the page of the folders does not name; the one that includes all others needs no line."""
    page = root / "docs" / "architecture.md"
    listed = text(page) if page.is_file() else ""
    return [f"docs/architecture.md: does not name the header `{path.stem}`"
            for path in headers if path.stem != "segcal" and f"`{path.stem}`" not in listed]


def violations(root):
    """One line per foreign include and per unlisted header, and one if there are too many headers."""
    headers = files(root, "include/**/*.h")
    found = [f"{path.relative_to(root)}: must not include {header}"
             for path in headers for quote, header in includes(path)
             if not allowed(root, path, quote, header)]
    found += unlisted(root, headers)
    if len(headers) > MAX_HEADERS:
        found.append(f"include/: {len(headers)} public headers, at most {MAX_HEADERS}")
    return found


if __name__ == "__main__":
    run(violations)
