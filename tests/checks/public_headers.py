# SPDX-License-Identifier: Apache-2.0
"""Public headers need only the standard library and each other."""

from repository import files, includes, run

MAX_HEADERS = 26


def allowed(root, quote, header):
    """Standard headers have neither folder nor extension; those of C and of every library do."""
    if quote == "<":
        return "/" not in header and "." not in header
    return header.startswith("segcal/") and (root / "include" / header).is_file()


def violations(root):
    """One line per foreign include, and one if there are too many headers."""
    headers = files(root, "include/**/*.h")
    found = [f"{path.relative_to(root)}: must not include {header}"
             for path in headers for quote, header in includes(path)
             if not allowed(root, quote, header)]
    if len(headers) > MAX_HEADERS:
        found.append(f"include/: {len(headers)} public headers, at most {MAX_HEADERS}")
    return found


if __name__ == "__main__":
    run(violations)
