"""All of paper 4."""

from __future__ import annotations

from heddle.reproduce.before import before_and_after
from heddle.reproduce.constants import Constants
from heddle.reproduce.lab import Findings, Lab
from heddle.reproduce.network_aware.bandwidths import bandwidths
from heddle.reproduce.network_aware.hosts import Hosts
from heddle.reproduce.network_aware.recorded import recorded


def experiment(lab: Lab, constants: Constants) -> Findings:
    hosts = Hosts(lab, constants)
    found = lab.together([bandwidths(hosts), recorded(hosts)])
    found.tables.insert(0, before_and_after(constants, found.claims))
    return found
