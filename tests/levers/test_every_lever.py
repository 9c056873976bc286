"""What a user's lever is refused for when it is loaded, heddle's own are looked at for here."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numba import njit

from heddle.model.draw import draw
from heddle.policy.checking import unknown_names
from heddle.policy.hooks import ready_hook
from heddle.policy.presets import LEVERS
from heddle.stock_yarn.levers import POSTED


@pytest.mark.parametrize("name", [*LEVERS, "posted"])
def test_hooks_compile_to_whole_numbers(name: str) -> None:
    lever = LEVERS.get(name, POSTED)
    for hook, function in lever.hooks.items():
        assert list(unknown_names(function)) == []
        assert ready_hook(lever, hook, n_resources=2).outside is None


def test_naming_a_policy_needs_no_numba() -> None:
    """So that `heddle policies` and completion are there at once."""
    code = (
        "import sys\n"
        "from heddle.cli.main import run\n"
        "from heddle.policy.parse import parse_policy\n"
        "run(['policies'])\n"
        "run(['policies', 'capacity+usage-feedback+network-aware', '--json'])\n"
        "parse_policy('haste-a+dress-pools+max-predictor+random-node')\n"
        "sys.exit('numba' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=False).returncode == 0


def test_a_draw_is_the_same_compiled_and_in_plain_python() -> None:
    compiled = njit(lambda seed, stream, index: draw(seed, stream, index))
    rng = np.random.default_rng(1)
    for seed, stream, index in rng.integers(0, 2**62, (200, 3)).tolist():
        assert compiled(seed, stream, index) == draw(seed, stream, index)
    assert compiled(0, 7, -5) == draw(0, 7, -5)
