"""What a cluster runs today is what other policies are compared with."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli.test_cluster_import import FAIR, XML, FakeRm
from heddle.cli.main import run
from heddle.traces.clusters import dump_cluster, load_cluster
from heddle.traces.identity import cluster_hash

SMALL = "burst(jobs=4)"


def cluster_file(folder: Path, policy: str, name: str = "today") -> str:
    file = folder / f"{name}.yaml"
    nodes = "nodes: [{count: 4, capacity: {memory_mb: 65536, vcores: 24}}]"
    file.write_text(f"name: {name}\npolicy: {policy}\n{nodes}\n")
    return str(file)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[dict[str, Any], str]:
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0
    shown = capsys.readouterr()
    return json.loads(shown.out), shown.err


def test_an_imported_cluster_says_what_it_runs(tmp_path: Path) -> None:
    (tmp_path / "capacity-scheduler.xml").write_text(XML)
    files = {"capacity": str(tmp_path / "of-xml.yaml"), "fair": str(tmp_path / "of-rm.yaml")}
    xml = str(tmp_path / "capacity-scheduler.xml")
    assert run(["cluster", "import", xml, "--nodes", "3x8192x4", "-o", files["capacity"]]) == 0
    with FakeRm(FAIR) as fake:
        assert run(["cluster", "import", "--rm", fake.address, "-o", files["fair"]]) == 0
    for policy, file in files.items():
        made = load_cluster(file)
        assert made.policy == policy
        Path(file).write_text(dump_cluster(made))
        assert load_cluster(file) == made
        assert cluster_hash(made) == cluster_hash(replace(made, policy="")), "it changes no run"


def test_it_takes_part_in_a_comparison_and_is_the_baseline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    today = cluster_file(tmp_path, "capacity")
    arguments = ("compare", SMALL, "-c", today, "-p", "fifo", "--seeds", "2", "--on", "local:1")
    document, _ = printed(capsys, *arguments)
    assert (document["baseline"], document["baseline_is_present"]) == ("capacity", True)
    assert {one["policy"] for one in document["runs"]} == {"capacity", "fifo"}
    assert run(list(arguments)) == 0
    assert "The baseline, capacity, is the policy that the cluster runs today." in capsys.readouterr().err

    document, _ = printed(capsys, *arguments, "-p", "capacity")
    assert document["baseline"] == "capacity", "among the policies, wherever it stands"
    assert len(document["runs"]) == 4

    document, said = printed(capsys, *arguments, "-p", "drf", "--baseline", "drf")
    assert (document["baseline"], document["baseline_is_present"]) == ("drf", False), "whoever says something is heard"
    assert {one["policy"] for one in document["runs"]} == {"fifo", "drf"}
    assert "today" not in said


def test_clusters_that_run_different_policies_have_no_common_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [cluster_file(tmp_path, policy, policy) for policy in ("capacity", "fair")]
    on = ("-c", files[0], "-c", files[1])
    document, _ = printed(capsys, "compare", SMALL, *on, "-p", "fifo", "-p", "drf", "--seeds", "1", "--on", "local:1")
    assert (document["baseline"], document["baseline_is_present"]) == ("fifo", False)


def test_advice_is_against_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    today = cluster_file(tmp_path, "capacity")
    arguments = ("advise", SMALL, "-c", today, "--windows", "2")
    document, said = printed(capsys, *arguments)
    names = [one["policy"] for one in document["policies"]]
    assert names == ["capacity", "fifo", "drf", "capacity+usage-feedback"]
    assert [one["baseline"] for one in document["policies"]] == [True, False, False, False]
    assert "the baseline, capacity, is the policy that the cluster runs today" in said
    document, said = printed(capsys, *arguments, "-p", "fifo", "-p", "drf", "--baseline", "drf")
    assert [one["policy"] for one in document["policies"]] == ["drf", "fifo"]
    assert "today" not in said


def test_advice_claims_no_gain_of_a_policy_that_stalls(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ("advise", "am-storm", "--windows", "1", "-p", "capacity", "-p", "fifo")
    document, _ = printed(capsys, *arguments)
    fifo = document["policies"][1]
    assert (fifo["mean_jct_change_pct"], fifo["stalled"], fifo["windows"]) == (None, 1, 1)
    assert run(list(arguments)) == 0
    assert "stalled 1 of 1" in capsys.readouterr().out


@pytest.mark.parametrize("command", [("simulate", SMALL), ("compare", SMALL), ("advise", SMALL)])
def test_what_is_no_policy_is_refused(
    command: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, "-c", cluster_file(tmp_path, "capasity")]) == 2
    said = capsys.readouterr().err
    assert "cluster today: policy: unknown policy 'capasity'" in said
    assert "capacity" in said
