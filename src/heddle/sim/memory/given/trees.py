"""Trees of queues: one or, where the queues lever counts labels apart, one for each label that requests name.

Rows of queues and of their members are those of the first tree, of requests without a label, then those of the next.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from heddle.model.cluster import Cluster
from heddle.model.workload import Workload
from heddle.sim.memory.given import nodes
from heddle.sim.memory.queue_tree import QueueTree


class Trees(NamedTuple):
    trees: tuple[QueueTree, ...]
    of_stage: npt.NDArray[np.int64]
    of_node: npt.NDArray[np.int64]  # its row of `allowance` and `n_nodes`
    allowance: npt.NDArray[np.int64]  # of the nodes of each tree; labels that no request names come last
    n_nodes: npt.NDArray[np.int64]

    @classmethod
    def of(cls, workload: Workload, cluster: Cluster, queues: QueueTree, by_label: bool) -> Trees:
        if by_label:
            labels, of_stage = workload.labels, workload.stages["label"].astype(np.int64)
            of_node = nodes.labels(cluster, labels).astype(np.int64)
        else:
            labels, of_stage = ("",), np.zeros(len(workload.stages), np.int64)
            of_node = np.zeros(cluster.n_nodes, np.int64)
        allowance = np.zeros((len(labels) + by_label, len(cluster.resources)), np.int64)
        np.add.at(allowance, of_node, np.array([node.allowance for node in cluster.nodes], np.int64))
        trees = tuple(queues.of_label(label) if label else queues for label in labels)
        return cls(trees, of_stage, of_node, allowance, np.bincount(of_node, minlength=len(allowance)))

    @property
    def labels_apart(self) -> bool:
        return len(self.n_nodes) > len(self.trees)

    def of_label(self, labels: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The tree of requests with each of these labels."""
        return labels if self.labels_apart else np.zeros_like(labels)

    @property
    def n_queues(self) -> int:
        """Of all trees."""
        return sum(len(tree.names) for tree in self.trees)

    @property
    def first_queue_of_stage(self) -> npt.NDArray[np.int64]:
        """Of its tree."""
        return self.of_stage * len(self.trees[0].names)

    def once_for_each(self, rows: npt.NDArray[np.int64], further: int = 0) -> npt.NDArray[np.int64]:
        """The rows of the first tree for all of them; in each, numbers are larger by so much than in the one before."""
        return np.concatenate([rows + i * further for i in range(len(self.trees))])

    def joined(self, of_tree: list[Any]) -> npt.NDArray[np.int64]:
        """What each tree has, one behind the other."""
        return np.concatenate([np.array(rows, np.int64) for rows in of_tree])

    def fill(self, rows: npt.NDArray[Any], counts: npt.NDArray[np.bool_]) -> None:
        """Writes the view's rows of queues at time 0."""
        first = 0
        for tree, total in zip(self.trees, self.allowance, strict=False):
            own = rows[first : first + len(tree.names)]
            tree.fill(own)
            tree.share_out(own, total, counts)
            for column in ("parent", "first_child", "next_sibling"):
                own[column][own[column] >= 0] += first
            first += len(tree.names)
