"""A process of its own that compile_engine() starts: compiles the engine from the end that the first reaches last."""

from __future__ import annotations

import sys
from pathlib import Path

from heddle.sim.numba.compile import compile_entries, compile_unit
from heddle.sim.numba.units import unit_names


def main() -> None:
    n_resources, place = int(sys.argv[1]), Path(sys.argv[2])
    compile_entries(n_resources, place)
    for name in reversed(unit_names()):
        compile_unit(name, n_resources, place)


if __name__ == "__main__":
    main()
