"""The policy that a cluster runs today, where its file says so: what others are to be compared with."""

from __future__ import annotations

from collections.abc import Iterable

from heddle.model.cluster import Cluster
from heddle.model.errors import BadInput, Problem
from heddle.policy.parse import parse_policy
from heddle.policy.policy import Policy


def present_policy(cluster: Cluster) -> Policy | None:
    """None where it is not known; BadInput where it is no policy."""
    if not cluster.policy:
        return None
    try:
        return parse_policy(cluster.policy)
    except BadInput as error:
        where = f"cluster {cluster.name}" if cluster.name else "the cluster"
        raise BadInput([Problem(where, one.what, field="policy") for one in error.problems]) from None


def common_policy(clusters: Iterable[Cluster]) -> Policy | None:
    """The one that all of them run; None where one does not say, or they run different ones."""
    found = [present_policy(one) for one in clusters]
    return found[0] if len({str(one) for one in found}) == 1 else None
