# SPDX-License-Identifier: Apache-2.0
"""Dependencies point one way: a folder includes itself and folders of a lower level, no others."""

from repository import files, includes, run

LEVELS = [
    ["core"],
    ["kernels"],
    ["formats", "optim", "measures", "spatial"],
    ["data"],
    ["methods/shared", "metrics"],
    ["methods/affine", "methods/training"],
    ["methods/tree", "methods/selective"],
    ["calibrators"],
    ["stats", "simulate"],
    ["pipeline"],
    ["verify", "results"],
    ["report"],
    ["cli", "python"],
]
LEVEL_OF = {name: level for level, names in enumerate(LEVELS) for name in names}

# Headers that only some files may use: threads are made in one place, the rest keeps a library
# behind the folder that wraps it. Prefix of the header -> prefixes of the files.
CONFINED = {
    "thread": ["src/core/parallel"],
    "future": ["src/core/parallel"],
    "omp.h": [],
    "hwy/": ["src/kernels/"],
    "png.h": ["src/formats/", "src/report/raster"],
    "jpeglib.h": ["src/formats/"],
    "zlib.h": ["src/formats/"],
    "CLI/": ["cli/"],
}


def folder_of(relative):
    """'core' for src/core/file.h, 'methods/tree' for src/methods/tree/tree_map.h, 'cli' for cli/main.cc."""
    folders = relative.parts[:-1]
    return "/".join(folders[1:] if folders[0] == "src" else folders)


def points_down(user, used):
    """Whether folder `user` may include from folder `used`."""
    return user == used or LEVEL_OF.get(used, len(LEVELS)) < LEVEL_OF[user]


def confined(relative, header):
    """Whether a header is kept from this file."""
    homes = [homes for prefix, homes in CONFINED.items()
             if header == prefix or (prefix.endswith("/") and header.startswith(prefix))]
    return any(not str(relative).startswith(tuple(home)) for home in homes)


def allowed(relative, quote, header):
    """Whether the file at `relative` may include `header`."""
    # A test may drive the whole path: a fit goes through the pipeline, wherever its method lives.
    is_test = "test" in relative.stem
    if quote == "<" or header.startswith(("hwy/", "CLI/")):
        return is_test or not confined(relative, header)
    used = header.rpartition("/")[0]
    if used == "segcal":
        return True
    return is_test or (not used.startswith("tests") and points_down(folder_of(relative), used))


def violations(root):
    """One line per include that points up, sideways, or at a confined header."""
    found = []
    for path in files(root, "src/**/*.h", "src/**/*.cc", "cli/*.h", "cli/*.cc", "python/src/*.cc"):
        relative = path.relative_to(root)
        if folder_of(relative) not in LEVEL_OF:
            found.append(f"{relative}: folder has no level in tests/checks/dependencies.py")
            continue
        found += [f"{relative}: must not include {header}"
                  for quote, header in includes(path) if not allowed(relative, quote, header)]
    return found


if __name__ == "__main__":
    run(violations)
