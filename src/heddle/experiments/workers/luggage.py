"""What all runs share and every worker is brought once: files that they name, clusters, and which heddle is meant.

What is left of a configuration is small. Pickle itself finds what is shared: it goes through every part of it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import pickle
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from heddle.experiments.workers.versions import Version, version_here
from heddle.model.cluster import Cluster
from heddle.model.whereabouts import NamesFiles
from heddle.policy.endless import DEFAULT_LIMIT_S, LIMIT


@dataclass(frozen=True)
class Luggage:
    """For one worker."""

    version: Version
    files: Mapping[str, bytes]  # by the name that configurations use
    clusters: Mapping[str, bytes]  # pickled, by their digest
    environment: Mapping[str, str]

    @cached_property
    def key(self) -> str:
        """The same for the same contents."""
        named = {name: hashlib.sha256(content).hexdigest() for name, content in self.files.items()}
        content = [list(self.version), named, sorted(self.clusters), dict(self.environment)]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


class Packer:
    """Packs runs, each without what all share."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}
        self._clusters: dict[str, bytes] = {}
        self._known: dict[int, tuple[Cluster, str]] = {}  # the cluster is kept, so that nobody else gets its id

    def luggage_of(self, configurations: Iterable[Any]) -> Luggage:
        """What all of them need. Nothing of them is kept, so that there may be many."""
        for one in configurations:
            _Pickler(io.BytesIO(), self).dump(one)
        limit = {LIMIT: os.environ.get(LIMIT, str(DEFAULT_LIMIT_S))}
        return Luggage(version_here(), dict(self._files), dict(self._clusters), limit)

    def packed(self, function: Callable[[Any], Any], configuration: Any) -> bytes:
        """One run."""
        content = io.BytesIO()
        _Pickler(content, self).dump((function, configuration))
        return content.getvalue()

    def bring(self, names: Iterable[str]) -> None:
        for name in names:
            if name not in self._files and (path := Path(name)).is_file():  # where it is not, the run will say so
                self._files[name] = path.read_bytes()

    def digest_of(self, cluster: Cluster) -> str:
        if id(cluster) not in self._known:
            content = pickle.dumps(cluster)
            digest = hashlib.sha256(content).hexdigest()[:16]
            self._clusters[digest] = content
            self._known[id(cluster)] = (cluster, digest)
        return self._known[id(cluster)][1]


class _Pickler(pickle.Pickler):
    def __init__(self, out: io.BytesIO, packer: Packer) -> None:
        super().__init__(out, protocol=pickle.HIGHEST_PROTOCOL)
        self._packer = packer

    def persistent_id(self, part: Any) -> str | None:
        """Called for each part; a name stands for it, None leaves it where it is."""
        if isinstance(part, NamesFiles):
            self._packer.bring(part.files)
        return self._packer.digest_of(part) if isinstance(part, Cluster) else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, packed: bytes, clusters: Mapping[str, Cluster]) -> None:
        super().__init__(io.BytesIO(packed))
        self._clusters = clusters

    def persistent_load(self, name: str) -> Cluster:
        return self._clusters[name]


def unpacked(packed: bytes, clusters: Mapping[str, Cluster]) -> tuple[Callable[[Any], Any], Any]:
    """The function and the configuration of a run."""
    function, configuration = _Unpickler(packed, clusters).load()
    return function, configuration
