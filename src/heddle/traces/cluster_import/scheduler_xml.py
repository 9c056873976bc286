"""A scheduler's XML file as a queue tree: which scheduler's it is, its own content tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn
from xml.etree import ElementTree
from xml.parsers import expat

from heddle.model.errors import BadInput
from heddle.traces.cluster_import.capacity import capacity_queues
from heddle.traces.cluster_import.fair import fair_queues
from heddle.traces.cluster_import.imported import ImportedQueues


def read_queues_xml(path: Path, totals: Sequence[int] | None) -> ImportedQueues:
    """The queues of capacity-scheduler.xml or fair-scheduler.xml, told apart by what is in them.

    `totals` is what the cluster may promise (MB, millicores), where it is known: absolute amounts become shares of it.
    """
    try:
        content = path.read_bytes()
        _refuse_entities(content, path)
        root = ElementTree.fromstring(content)
    except OSError as error:
        raise BadInput.of(str(path), f"cannot be read: {error.strerror or error}") from None
    except ElementTree.ParseError as error:
        raise BadInput.of(str(path), f"not XML: {error}", row=error.position[0]) from None
    except (LookupError, ValueError) as error:
        raise BadInput.of(str(path), f"not XML in an encoding that can be read: {error}") from None
    if root.tag == "configuration":
        return capacity_queues(_properties(root), str(path), totals)
    if root.tag == "allocations":
        return fair_queues(root, str(path), totals)
    what = (
        f"<{root.tag}> is neither a capacity-scheduler.xml (<configuration>) nor a fair-scheduler.xml (<allocations>)"
    )
    raise BadInput.of(str(path), what)


def _refuse_entities(content: bytes, path: Path) -> None:
    """Entities of entities grow without bound, or name other files. Not every version of expat stops them in time."""

    def refuse(name: str, *_: object) -> NoReturn:
        what = f"declares the entity {name}: heddle reads no entities; write what it stands for in its places"
        raise BadInput.of(str(path), what, row=parser.CurrentLineNumber)

    parser = expat.ParserCreate()
    parser.EntityDeclHandler = refuse
    with suppress(expat.ExpatError):  # said by the parser that reads it
        parser.Parse(content, True)


def _properties(root: ElementTree.Element) -> Mapping[str, str]:
    """Name and value of each <property>; of a name given twice the last wins, as in Hadoop."""
    found = {}
    for one in root.iter("property"):
        name = (one.findtext("name") or "").strip()
        if name:
            found[name] = (one.findtext("value") or "").strip()
    return found
