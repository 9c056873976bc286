"""Queue trees from the configuration of YARN's schedulers: nothing that is said gets lost in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from heddle.model.cluster import LabelShare, Queue
from heddle.model.errors import BadInput
from heddle.traces.cluster_import.imported import ImportedQueues
from heddle.traces.cluster_import.scheduler_xml import read_queues_xml

TOTALS = (100_000, 50_000)


def capacity(tmp_path: Path, **properties: str) -> ImportedQueues:
    rows = "".join(
        f"<property><name>yarn.scheduler.capacity.{_written(name)}</name><value>{value}</value></property>"
        for name, value in properties.items()
    )
    path = tmp_path / "capacity-scheduler.xml"
    path.write_text(f"<configuration>{rows}</configuration>")
    return read_queues_xml(path, TOTALS)


def _written(name: str) -> str:
    """`root__a__capacity` is how Python can say root.a.capacity."""
    return name if "." in name else name.replace("__", ".").replace("_", "-")


def fair(tmp_path: Path, text: str, totals: tuple[int, int] | None = TOTALS) -> ImportedQueues:
    path = tmp_path / "fair-scheduler.xml"
    path.write_text(f"<?xml version='1.0'?><allocations>{text}</allocations>")
    return read_queues_xml(path, totals)


def queue(found: ImportedQueues, name: str) -> Queue:
    (one,) = (one for one in found.queues if one.name == name)
    return one


def test_capacity_tree_with_everything_that_is_modelled(tmp_path: Path) -> None:
    found = capacity(
        tmp_path,
        root__queues="prod,dev", root__prod__capacity="70", root__dev__capacity="30",
        root__prod__maximum_capacity="-1", root__dev__maximum_capacity="50.5",
        root__dev__queues="a, b", root__dev__a__capacity="60", root__dev__b__capacity="40",
        root__prod__user_limit_factor="1.5", root__prod__minimum_user_limit_percent="25",
        root__dev__a__maximum_am_resource_percent="0.5", maximum_am_resource_percent="0.2",
        root__dev__b__max_parallel_apps="7", root__dev__b__ordering_policy="fair",
        resource_calculator="org.apache.hadoop.yarn.util.resource.DominantResourceCalculator",
        per_node_heartbeat__maximum_offswitch_assignments="4",
    )  # fmt: skip
    assert found.scheduler == "capacity"
    assert [one.name for one in found.queues] == ["root", "root.prod", "root.dev", "root.dev.a", "root.dev.b"]
    assert queue(found, "root.prod") == Queue(
        "root.prod", 700, 1000, am_share_permille=200, user_limit_percent=25, user_limit_factor_milli=1500
    )
    assert queue(found, "root.dev") == Queue("root.dev", 300, 505)
    assert queue(found, "root.dev.a") == Queue("root.dev.a", 600, 1000, am_share_permille=500)
    assert queue(found, "root.dev.b") == Queue(
        "root.dev.b", 400, 1000, am_share_permille=200, max_running_jobs=7, order="fair"
    )
    assert (found.calculator, found.off_switch_per_heartbeat) == ("dominant", 4)
    assert found.left == ()


def test_shares_of_labels_are_taken_over(tmp_path: Path) -> None:
    found = capacity(
        tmp_path,
        root__queues="a,b", root__a__capacity="50", root__b__capacity="50",
        root__accessible_node_labels__gpu__capacity="100", root__a__accessible_node_labels="gpu,ssd",
        root__a__accessible_node_labels__gpu__capacity="70", root__a__accessible_node_labels__ssd__capacity="1w",
        root__b__accessible_node_labels__gpu__capacity="30",
        root__b__accessible_node_labels__gpu__maximum_capacity="40",
    )  # fmt: skip
    assert queue(found, "root.a").labels == (LabelShare("gpu", 700, 1000),)
    assert queue(found, "root.b").labels == (LabelShare("gpu", 300, 400),)
    assert [one.setting.partition("accessible-")[2] for one in found.left] == [
        "node-labels.gpu.capacity", "node-labels", "node-labels.ssd.capacity",
    ]  # fmt: skip


def test_yarns_own_defaults_hold_where_nothing_is_said(tmp_path: Path) -> None:
    found = capacity(tmp_path, root__queues="default", root__default__capacity="100")
    assert (found.calculator, found.off_switch_per_heartbeat) == ("memory", 1)
    assert queue(found, "root.default") == Queue("root.default")


def test_what_capacity_cannot_take_over_is_listed(tmp_path: Path) -> None:
    said = {
        "root__queues": "a,b,c", "root__a__capacity": "3w", "root__b__capacity": "1w",
        "root__c__capacity": "[memory=1024,vcores=1]", "root__a__state": "STOPPED", "root__b__acl_x": "*",
        "node_locality_delay": "40", "root__a__ordering_policy": "priority-utilization", "brand_new": "7",
        "per_node_heartbeat__multiple_assignments_enabled": "false", "root__c__maximum_capacity": "[memory=9]",
    }  # fmt: skip
    found = capacity(tmp_path, **said)
    left = {one.setting.removeprefix("yarn.scheduler.capacity."): one.why for one in found.left}
    taken_over = {"root.queues", "root.c.capacity", "root.a.state"}
    assert queue(found, "root.a").stopped
    assert left.keys() == {name.replace("__", ".").replace("_", "-") for name in said} - taken_over
    assert left["brand-new"] == "not modelled"


def test_amounts_are_taken_over_as_they_are(tmp_path: Path) -> None:
    found = capacity(
        tmp_path, root__queues="a,b", root__a__capacity="[memory=10240,vcores=12]",
        root__b__capacity="[memory=2Gi, vcores=3]", root__b__maximum_capacity="[memory=4G,vcores=6]",
    )  # fmt: skip
    assert not found.left
    assert queue(found, "root.a").guarantee == (10240, 12000)
    assert queue(found, "root.b").guarantee == (2048, 3000)
    assert queue(found, "root.b").maximum == (3814, 6000)
    with pytest.raises(BadInput, match="is not like"):
        capacity(tmp_path, root__queues="a", root__a__capacity="[memory=lots,vcores=12]")


def test_amounts_beside_shares_and_weights_become_amounts_of_these_nodes(tmp_path: Path) -> None:
    """As YARN 3.4 has it: amounts first, percent of the rest, weights of what these leave."""
    found = capacity(
        tmp_path, root__queues="a,b,c,d", root__a__capacity="[memory=20000,vcores=10]", root__b__capacity="50",
        root__c__capacity="3w", root__d__capacity="1w", root__b__queues="x,y",
        root__b__x__capacity="[memory=10000,vcores=5]", root__b__y__capacity="100",
    )  # fmt: skip
    assert [queue(found, f"root.{name}").guarantee for name in "abcd"] == [
        (20_000, 10_000), (40_000, 20_000), (30_000, 15_000), (10_000, 5_000),
    ]  # fmt: skip
    assert queue(found, "root.b.x").guarantee == (10_000, 5_000)
    assert queue(found, "root.b.y").guarantee == (30_000, 15_000)
    assert not [one for one in found.left if one.matters]


@pytest.mark.parametrize(
    ("setting", "value", "matters"),
    [
        ("root.a.acl_submit_applications", "*", False),
        ("root.a.maximum-applications", "10000", False),
        ("root.a.maximum-applications", "20", True),
        ("root.a.priority", "5", False),  # parents go by use, unless told otherwise
        ("root.a.default-node-label-expression", "gpu", True),
        ("root.a.default-node-label-expression", "", False),
        ("root.auto-queue-creation-v2.enabled", "true", True),
        ("root.a.auto-create-child-queue.enabled", "false", False),
        ("root.ordering-policy", "priority-utilization", True),
        ("node-locality-delay", "40", False),
        ("brand-new", "1", True),
    ],
)
def test_what_may_change_results_is_told_apart(tmp_path: Path, setting: str, value: str, matters: bool) -> None:
    found = capacity(tmp_path, root__queues="a", root__a__capacity="100", **{setting: value})
    assert [(one.setting, one.matters) for one in found.left] == [(f"yarn.scheduler.capacity.{setting}", matters)]


def test_priorities_of_queues_matter_where_queues_go_by_them(tmp_path: Path) -> None:
    found = capacity(
        tmp_path, root__queues="a", root__a__capacity="100", root__a__priority="5",
        root__ordering_policy="priority-utilization",
    )  # fmt: skip
    assert [one.matters for one in found.left] == [True, True]


def test_rounding_is_told(tmp_path: Path) -> None:
    found = capacity(tmp_path, root__queues="a,b", root__a__capacity="66.67", root__b__capacity="33.33")
    assert [one.why for one in found.left] == [
        "shares have one decimal: imported as 66.7 %",
        "shares have one decimal: imported as 33.3 %",
    ]


def test_bad_capacity_files_say_everything_at_once(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        capacity(tmp_path, root__queues="a,b,a", root__a__capacity="many", root__b__user_limit_factor="-7")
    said = str(caught.value)
    assert all(part in said for part in ("listed twice", "'many'", "b.capacity: missing", "user-limit-factor"))
    with pytest.raises(BadInput, match="names the children of root"):
        capacity(tmp_path)


def test_fair_tree_with_everything_that_is_modelled(tmp_path: Path) -> None:
    found = fair(
        tmp_path,
        """<queue name="prod"><weight>3.0</weight><minResources>10240 mb, 8 vcores</minResources>
             <maxResources>50.0%</maxResources><maxRunningApps>9</maxRunningApps>
             <schedulingPolicy>drf</schedulingPolicy></queue>
           <queue name="dev" type="parent"><maxResources>50000 mb, 25 vcores</maxResources>
             <queue name="a"><maxResources>memory-mb=25%, vcores=25%</maxResources></queue><queue name="b"/></queue>
           <defaultQueueSchedulingPolicy>fifo</defaultQueueSchedulingPolicy>""",
    )
    assert found.scheduler == "fair"
    assert [one.name for one in found.queues] == ["root", "root.prod", "root.dev", "root.dev.a", "root.dev.b"]
    prod = Queue("root.prod", 1000, 500, 3000, (10240, 8000), max_running_jobs=9, order="drf")
    assert queue(found, "root.prod") == prod
    assert queue(found, "root.dev") == Queue("root.dev", maximum_permille=500)
    assert queue(found, "root.dev.a") == Queue("root.dev.a", maximum_permille=500, order="fifo")
    assert queue(found, "root.dev.b").order == "fifo"
    assert found.calculator == "dominant"
    assert found.left == ()


def test_what_fair_cannot_take_over_is_listed(tmp_path: Path) -> None:
    found = fair(
        tmp_path,
        """<queue name="root"><aclSubmitApps>*</aclSubmitApps>
             <queue name="a"><maxAMShare>0.3</maxAMShare><maxResources>10000 mb, 50 vcores</maxResources>
               <allowPreemptionFrom>false</allowPreemptionFrom><schedulingPolicy>mine.Policy</schedulingPolicy>
               <brandNew>1</brandNew></queue></queue>
           <user name="ann"><maxRunningApps>3</maxRunningApps></user>
           <queuePlacementPolicy><rule name="specified"/></queuePlacementPolicy>""",
    )
    settings = [one.setting for one in found.left]
    assert settings == [
        "root.aclSubmitApps", "root.a.maxResources", "root.a.schedulingPolicy",
        "root.a.allowPreemptionFrom", "root.a.brandNew", "user ann", "queuePlacementPolicy",
    ]  # fmt: skip
    assert queue(found, "root.a").am_share_permille == 300
    assert queue(found, "root.a").maximum_permille == 100, "the smaller of 10 % memory and all vcores"


def test_amounts_need_the_size_of_the_cluster(tmp_path: Path) -> None:
    found = fair(tmp_path, '<queue name="a"><maxResources>10000 mb, 5 vcores</maxResources></queue>', None)
    assert [one.why for one in found.left] == ["an amount in a cluster of unknown size: use --nodes"]
    assert queue(found, "root.a").maximum_permille == 1000


def test_bad_fair_files(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        fair(tmp_path, '<queue name="a.b"/><queue name="c"><weight>x</weight><minResources>lots</minResources></queue>')
    said = str(caught.value)
    assert all(part in said for part in ("without dots", "must be a number", "cannot read"))


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<a><b></a>", r"x\.xml:1: not XML"),
        ("<html/>", "neither a capacity"),
        ('<?xml version="1.0" encoding="martian"?><a/>', "not XML in an encoding that can be read"),
        (f'<!DOCTYPE a [\n<!ENTITY l0 "ha">{LAUGHS}]><configuration>&l9;</configuration>', r"x\.xml:2.*the entity l0"),
        ('<!DOCTYPE a [<!ENTITY % f SYSTEM "/etc/passwd">]><configuration/>', "the entity f: heddle reads no entities"),
    ],
)
def test_other_files(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "x.xml").write_text(text)
    with pytest.raises(BadInput, match=message):
        read_queues_xml(tmp_path / "x.xml", None)


def test_weights_beside_percent_share_what_these_leave(tmp_path: Path) -> None:
    """As Hadoop 3.4.2's ResourceCalculationDriver has it: amounts, then percent, then weights."""
    found = capacity(
        tmp_path, root__queues="a,b,c", root__a__capacity="60", root__b__capacity="1w", root__c__capacity="3w"
    )
    assert [queue(found, f"root.{name}").guarantee_permille for name in "abc"] == [600, 100, 300]
