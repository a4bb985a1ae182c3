# SPDX-License-Identifier: Apache-2.0
"""Dependencies point one way: a folder includes itself and folders of a lower level, no others.

What uses the library from outside, the command line and the bindings, includes public headers alone:
what they can do, every user of the library can.
"""

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
    ["stats", "simulate", "corrupt"],
    ["pipeline"],
    ["verify", "results", "fuse"],
    ["report", "export", "capi", "parts"],
    ["study", "page"],
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
    "libdeflate.h": ["src/formats/"],
    "Eigen/": ["src/optim/"],
    "CLI/": ["cli/", "train/program/"],
    "torch/": ["train/"],
    "ATen/": ["train/"],
    "mpi.h": ["mpi/"],
}

# Top folders outside the library -> the libraries they may use beside ours and the standard one.
OUTSIDE = {
    "cli": ("CLI/", "fmt/", "nlohmann/"),
    "python": ("nanobind/",),
}

# Programs that are built on the inside of the library and on what no other part may link: libtorch, MPI.
PROGRAMS = ["train", "mpi"]


def is_test(name):
    """Whether a file, or the header of an include, is for tests alone: x_test.cc, x_for_test.h, x_for_test.cc."""
    return name.endswith(("_test.cc", "_for_test.h"))


def folder_of(relative):
    """'core' for src/core/file.h, 'methods/tree' for src/methods/tree/tree_map.h."""
    return "/".join(relative.parts[1:-1])


def points_down(user, used):
    """Whether folder `user` may include from folder `used`."""
    return user == used or LEVEL_OF.get(used, len(LEVELS)) < LEVEL_OF[user]


def confined(relative, header):
    """Whether a header is kept from this file."""
    homes = [homes for prefix, homes in CONFINED.items()
             if header == prefix or (prefix.endswith("/") and header.startswith(prefix))]
    return any(not str(relative).startswith(tuple(home)) for home in homes)


def allowed_outside(top, header):
    """Whether a file of the top folder `top` may include `header`: of ours, public ones and its own."""
    return "/" not in header or header.startswith(("segcal/", f"{top}/", *OUTSIDE[top]))


def allowed_inside(relative, quote, header):
    """Whether a file of the library may include `header`."""
    if quote == "<" or header.startswith("hwy/"):
        return not confined(relative, header)
    used = header.rpartition("/")[0]
    if used == "segcal":
        return True
    return not is_test(header) and not used.startswith("tests") \
        and points_down(folder_of(relative), used)


def allowed(relative, quote, header):
    """Whether the file at `relative` may include `header`."""
    top = relative.parts[0]
    if top in PROGRAMS:
        return is_test(relative.name) or not (is_test(header) or header.startswith("tests/")
                                              or confined(relative, header))
    if top in OUTSIDE:
        return allowed_outside(top, header) and not confined(relative, header)
    # A test may drive the whole path: a fit goes through the pipeline, wherever its method lives.
    return is_test(relative.name) or allowed_inside(relative, quote, header)


def violations(root):
    """One line per include that points up, sideways, or at a confined header."""
    found = []
    for path in files(root, "src/**/*.h", "src/**/*.cc", *(f"{top}/**/*.{end}" for top in [*OUTSIDE, *PROGRAMS]
                                                          for end in ["h", "cc"])):
        relative = path.relative_to(root)
        if relative.parts[0] == "src" and folder_of(relative) not in LEVEL_OF:
            found.append(f"{relative}: folder has no level in tests/checks/dependencies.py")
            continue
        found += [f"{relative}: must not include {header}"
                  for quote, header in includes(path) if not allowed(relative, quote, header)]
    return found


if __name__ == "__main__":
    run(violations)
