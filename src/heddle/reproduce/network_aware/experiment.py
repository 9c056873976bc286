"""All of paper 4."""

from __future__ import annotations

from heddle.reproduce.constants import Constants
from heddle.reproduce.lab import Findings, Lab
from heddle.reproduce.network_aware.bandwidths import Hosts, bandwidths


def experiment(lab: Lab, constants: Constants) -> Findings:
    return lab.together([bandwidths(Hosts(lab, constants))])
