"""Every JSON document is as its published schema says; what went wrong is JSON, too."""

from __future__ import annotations

import inspect
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from cli.documents import document
from cli.schemas import FOLDER, schema_file
from heddle.cli import main
from heddle.cli.main import run
from heddle.cli.reference import commands

SMALL = str(Path(__file__).parents[1] / "traces" / "fixtures" / "small.csv")
CAPACITY = "".join(
    f"<property><name>yarn.scheduler.capacity.{name}</name><value>{value}</value></property>"
    for name, value in (("root.queues", "a"), ("root.a.capacity", "100"), ("root.a.acl_submit_applications", "*"))
)
SWEEP = "{name: small, workloads: [burst], policies: [fifo, fair], seeds: 2}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("documents")
    (made / "capacity-scheduler.xml").write_text(f"<configuration>{CAPACITY}</configuration>")
    (made / "sweep.yaml").write_text(SWEEP)
    assert run(["-q", "workload", "make", "burst", "-o", str(made / "burst.parquet")]) == 0
    assert run(["-q", "simulate", "burst", "--record", str(made / "run"), "--json"]) == 0
    assert run(["-q", "simulate", "network-dags(jobs=3)", "--record", str(made / "moved"), "--json"]) == 0
    assert run(["-q", "sweep", "run", str(made / "sweep.yaml"), "-o", str(made / "swept"), "--on", "local:1"]) == 0
    return made


COMMANDS = """
policies
policies drf+n-sigma
workload list
workload show mix
workload make burst -o made.parquet
traces formats
traces import {small} -o imported.parquet
traces describe burst.parquet
traces slice burst.parquet --to 60 -o slice.parquet
traces scale burst.parquet --load 2 -o scaled.parquet
traces sample burst.parquet --jobs 5 -o sample.parquet
traces repeat burst.parquet --times 2 -o twice.parquet
traces export burst.parquet -o exported.csv
traces fit burst.parquet -o fitted.parquet
traces share burst.parquet -o shared.parquet
cluster import capacity-scheduler.xml --nodes 2x4096x8
compare burst -p fifo -p fair --seeds 2 --on local:1
simulate network-dags(jobs=3)
efficiency moved
ledger moved
explain run
explain run 0
explain run --versus fair --workload burst
explain run 0 --versus fair --workload burst
bound burst
efficiency run
efficiency run --by node
ledger run
advise burst.parquet -c 4x65536x24
sweep run sweep.yaml -o swept --on local:1
sweep show swept
docs
"""


@pytest.mark.parametrize("line", COMMANDS.strip().splitlines())
def test_documents_are_as_their_schemas_say(
    line: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    found = document(capsys, *line.format(small=SMALL).split())
    assert (found["heddle_version"], found["schema_version"]) == (version("heddle"), 1)


def test_a_run_that_stalls_has_a_document_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert document(capsys, "simulate", "burst")["outcome"] == "finished"
    assert document(capsys, "simulate", "am-storm", exit_code=1)["outcome"] == "stalled"
    document(capsys, "doctor")


def test_a_run_that_chooses_says_what_it_chose(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--choose", "--candidate", "capacity+usage-feedback(young_reports=2)", "--horizon", "1m")
    found = document(capsys, "simulate", "phases(phase_s=45)", "--policy", "capacity", *options)
    assert found["executor"] == "yarn-knobs"
    assert [one["chosen"] for one in found["choices"]][-1] != "capacity"


def test_every_command_with_json_has_a_schema() -> None:
    with_json = {
        name.removeprefix("heddle ")
        for name, one in commands(main.app_of(main.COMMANDS), "heddle")
        if "json" in inspect.signature(one).parameters
    }
    written = {schema_file(name).name for name in (*with_json, "reproduce weave")}  # its document is of another kind
    assert written == {path.name for path in FOLDER.glob("*.json")} - {"heddle-error.schema.json"}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_schemas_are_schemas_and_ask_for_versions(path: Path) -> None:
    schema = json.loads(path.read_text())
    Draft202012Validator.check_schema(schema)
    assert {"heddle_version", "schema_version"} <= set(schema["required"])


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str, exit_code: int = 2) -> dict[str, Any]:
    capsys.readouterr()
    assert run([*arguments, "--json"]) == exit_code
    said = capsys.readouterr()
    assert said.out == ""
    found = json.loads(said.err.splitlines()[-1])
    schema = json.loads((FOLDER / "heddle-error.schema.json").read_text())
    assert list(Draft202012Validator(schema).iter_errors(found)) == []
    assert found["error"]["exit_code"] == exit_code
    error: dict[str, Any] = found["error"]
    return error


def test_errors_are_json_with_their_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_text("job,submit_ms,duration_ms,vcores,memory_mb\na,0,x,1,1024\n")
    error = error_of(capsys, "simulate", str(bad), "--cluster", "1x2048x4")
    assert error["kind"] == "bad-input"
    (problem,) = error["problems"]
    assert (problem["where"], problem["row"], problem["field"]) == (str(bad), 2, "duration_ms")


def test_refusals_and_wrong_options_are_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert error_of(capsys, "simulate", "mix", "--nonsense")["kind"] == "usage"
    problem = error_of(capsys, "simulate", "mix", "--seed", "many")["problems"][0]["what"]
    assert "--seed" in problem
    nowhere = ("--mode", "live", "--rm", "http://127.0.0.1:1")
    refused = error_of(capsys, "yarn", "steer", "--policy", "network-aware", *nowhere)
    assert refused["kind"] == "refused"


def test_an_interrupt_is_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("heddle.traces.load.load_workload", interrupted)
    assert error_of(capsys, "workload", "show", "mix", exit_code=130)["kind"] == "interrupted"
