"""What happens on a worker: luggage is unpacked once, then runs are computed, one at a time."""

from __future__ import annotations

import hashlib
import os
import pickle
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heddle.experiments.attempts import Attempt
from heddle.experiments.workers.luggage import Luggage, unpacked
from heddle.experiments.workers.versions import check_versions, version_here
from heddle.model.cluster import Cluster
from heddle.model.whereabouts import Elsewhere, files_lying
from heddle.model.whole_files import write_whole


@dataclass(frozen=True)
class Unpacked:
    """Luggage, ready to be used."""

    clusters: dict[str, Cluster]
    elsewhere: Elsewhere
    environment: dict[str, str]


_unpacked: dict[str, Unpacked] = {}
_one_run = threading.Lock()  # where files lie is said for the whole process


def unpack(luggage: Luggage, folder: Path, worker: str) -> None:
    """For this process; RunRefused where this is another heddle. Processes may share the folder."""
    check_versions({worker: version_here()}, luggage.version)
    places = {}
    for name, content in luggage.files.items():
        place = folder / hashlib.sha256(content).hexdigest()[:24] / Path(name).name  # its name tells what it is
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            write_whole(place, content)
        places[name] = place
    clusters = {digest: pickle.loads(content) for digest, content in luggage.clusters.items()}
    _unpacked[luggage.key] = Unpacked(clusters, Elsewhere(luggage.key, places), dict(luggage.environment))


def is_unpacked(key: str) -> bool:
    return key in _unpacked


def forget(key: str) -> None:
    """The sweep that brought it is over."""
    _unpacked.pop(key, None)


def run_packed(key: str, packed: bytes) -> Any:
    """The result of one run, or Failed."""
    with _one_run:
        at_hand = _unpacked[key]
        os.environ.update(at_hand.environment)
        with files_lying(at_hand.elsewhere):
            function, configuration = unpacked(packed, at_hand.clusters)
            return Attempt(function)(configuration)
