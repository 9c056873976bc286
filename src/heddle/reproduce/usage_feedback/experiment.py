"""All of paper 1."""

from __future__ import annotations

from heddle.reproduce.before import before_and_after
from heddle.reproduce.constants import Constants
from heddle.reproduce.lab import Findings, Lab
from heddle.reproduce.usage_feedback.beyond import beyond
from heddle.reproduce.usage_feedback.damping import damping_factor
from heddle.reproduce.usage_feedback.extreme_fit import extreme_fit
from heddle.reproduce.usage_feedback.over_reserved import over_reserved
from heddle.reproduce.usage_feedback.prototype import prototype
from heddle.reproduce.usage_feedback.recorded import recorded
from heddle.reproduce.usage_feedback.settings import Settings
from heddle.reproduce.usage_feedback.surface import surface
from heddle.reproduce.usage_feedback.variants import variants


def experiment(lab: Lab, constants: Constants) -> Findings:
    settings = Settings(lab, constants)
    parts = [
        part(settings)
        for part in (over_reserved, surface, recorded, extreme_fit, damping_factor, prototype, variants, beyond)
    ]
    found = lab.together(parts)
    found.tables.insert(0, before_and_after(constants, found.claims))
    return found
