# SPDX-License-Identifier: Apache-2.0
"""No two types of one namespace share a name: the linker would keep the constructors of one and use
them for both, and no compiler sees both to say so."""

import re
from collections import defaultdict

from repository import files, run, text

NAMESPACE = re.compile(r"^(?:inline )?namespace ([\w:]*) ?\{")
TYPE = re.compile(r"^(?:struct|class|enum class|enum)\s+(?:[A-Z_]+\s+)?(\w+)\s*(?:final\s*)?(?::(?!:)|\{)")


def types(path):
    """The names a file defines outside unnamed namespaces, each with its namespace and line."""
    open_namespaces, found = [], []
    for number, line in enumerate(text(path).splitlines(), 1):
        if entered := NAMESPACE.match(line):
            open_namespaces.append(entered.group(1))
        elif line.startswith("}  // namespace") and open_namespaces:
            open_namespaces.pop()
        elif (defined := TYPE.match(line)) and "" not in open_namespaces:
            found.append(("::".join(open_namespaces + [defined.group(1)]), number))
    return found


def violations(root):
    """One line per name that a second file defines again."""
    places = defaultdict(dict)
    for path in files(root, "include/**/*.h", "src/**/*.h", "src/**/*.cc", "cli/**/*.h",
                      "cli/**/*.cc", "tests/support/*", "tests/conformance/*"):
        for name, number in types(path):
            places[name].setdefault(path.relative_to(root), number)
    return [f"{path}:{number}: {name} is also defined in {next(iter(where))}"
            for name, where in places.items() for path, number in list(where.items())[1:]]


if __name__ == "__main__":
    run(violations)
