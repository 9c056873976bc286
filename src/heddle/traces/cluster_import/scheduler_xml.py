"""A scheduler's XML file as a queue tree: which scheduler's it is, its own content tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from heddle.model.errors import BadInput
from heddle.traces.cluster_import.capacity import capacity_queues
from heddle.traces.cluster_import.fair import fair_queues
from heddle.traces.cluster_import.imported import ImportedQueues


def read_queues_xml(path: Path, totals: Sequence[int] | None) -> ImportedQueues:
    """The queues of capacity-scheduler.xml or fair-scheduler.xml, told apart by what is in them.

    `totals` is what the cluster may promise (MB, millicores), where it is known: absolute amounts become shares of it.
    """
    try:
        root = ElementTree.parse(path).getroot()
    except OSError as error:
        raise BadInput.of(str(path), f"cannot be read: {error.strerror or error}") from None
    except ElementTree.ParseError as error:
        raise BadInput.of(str(path), f"not XML: {error}", row=error.position[0]) from None
    if root.tag == "configuration":
        return capacity_queues(_properties(root), str(path), totals)
    if root.tag == "allocations":
        return fair_queues(root, str(path), totals)
    what = (
        f"<{root.tag}> is neither a capacity-scheduler.xml (<configuration>) nor a fair-scheduler.xml (<allocations>)"
    )
    raise BadInput.of(str(path), what)


def _properties(root: ElementTree.Element) -> Mapping[str, str]:
    """Name and value of each <property>; of a name given twice the last wins, as in Hadoop."""
    found = {}
    for one in root.iter("property"):
        name = (one.findtext("name") or "").strip()
        if name:
            found[name] = (one.findtext("value") or "").strip()
    return found
