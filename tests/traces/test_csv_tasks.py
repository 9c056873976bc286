"""CSV of tasks: what is read, and that everything wrong is reported at once."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest

from heddle.model.errors import BadInput
from heddle.model.workload import AM, TASKS
from heddle.traces.build import JobSpec, StageSpec, TaskSpec, build, constant
from heddle.traces.csv_tasks.read import read_csv_tasks
from heddle.traces.identity import workload_hash
from heddle.traces.imports.importing import import_trace
from heddle.traces.load import load_workload
from traces.same_workload import differences

FIXTURES = Path(__file__).parent / "fixtures"
HEADER = "job,submit_ms,duration_ms,vcores,memory_mb"


def write(folder: Path, text: str, name: str = "w.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def problems_of(folder: Path, text: str) -> list[str]:
    path = write(folder, text)
    with pytest.raises(BadInput) as caught:
        read_csv_tasks(path)
    return [str(problem).removeprefix(f"{path}:").strip() for problem in caught.value.problems]


def test_fixture_equals_the_same_jobs_built_by_hand() -> None:
    expected = build(
        "small",
        [
            JobSpec("single", 0, [StageSpec("tasks", (8192, 4000), [TaskSpec(1000)])]),
            JobSpec(
                "report",
                5000,
                [
                    StageSpec(
                        "map",
                        (1025, 1100),
                        [TaskSpec(20000, constant(700, 800)), TaskSpec(30000, constant(651, 1200))],
                    ),
                    StageSpec("reduce", (4096, 2000), [TaskSpec(0, constant(1000, 1000))], after=("map",)),
                ],
                am=(512, 1000),
                queue="root.prod",
                user="ana",
            ),
            JobSpec(
                "chain",
                5000,
                [
                    StageSpec("b", (100, 1000), [TaskSpec(10)], after=("a",)),
                    StageSpec("a", (100, 1000), [TaskSpec(20)]),
                ],
                queue="root.dev.ben",
                user="ben",
            ),
        ],
    )
    assert workload_hash(read_csv_tasks(FIXTURES / "small.csv")) == workload_hash(expected)


def test_rows_of_a_job_need_not_be_neighbours(tmp_path: Path) -> None:
    rows = ["a,1,10,1,5,x", "b,0,20,1,5,x", "a,1,30,2,5,y", "b,0,40,1,5,x", "a,1,50,1,5,x"]
    workload = read_csv_tasks(write(tmp_path, "\n".join([f"{HEADER},stage", *rows])))
    assert [workload.job_name(job) for job in range(2)] == ["b", "a"]
    assert workload.tasks["duration_ms"].tolist() == [20, 40, 10, 50, 30]
    assert workload.stages["n_tasks"].tolist() == [2, 2, 1]


def test_rows_of_a_stage_that_reserve_different_amounts_are_kinds_of_it(tmp_path: Path) -> None:
    header = f"{HEADER},stage,after,reads_mb"
    rows = ["a,0,10,1,5,x,,", "a,0,10,2,5,x,,", "a,0,10,1,5,x,,", "a,0,10,1,5,y,x,4", "a,0,10,1,7,y,x,5"]
    workload = read_csv_tasks(write(tmp_path, "\n".join([header, *rows])))
    assert workload.stage_names is not None
    assert workload.stage_names.to_list() == ["x", "x#2", "y", "y#2"]
    assert workload.stages["n_tasks"].tolist() == [2, 1, 1, 1]
    # Both kinds of y wait for both kinds of x, and share its 9 MB by their tasks: a third of them from x#2.
    assert workload.stages["n_after"].tolist() == [0, 0, 2, 2]
    assert workload.stage_after.tolist() == [0, 1, 0, 1]
    assert workload.edge_bytes is not None
    assert workload.edge_bytes.tolist() == [3_000_000, 1_500_000, 3_000_000, 1_500_000]


def test_what_a_short_row_lacks_is_empty(tmp_path: Path) -> None:
    for text in (f"{HEADER},queue,user\na,0,1,1,5,x\nb,0,1,1,5\n", f'{HEADER},queue,user\n"a",0,1,1,5,x\nb,0,1,1,5\n'):
        workload = read_csv_tasks(write(tmp_path, text))
        assert (workload.queues, workload.users) == (("root.x", "root.default"), ("nobody",))


def test_empty_fields_beyond_the_header_are_nothing(tmp_path: Path) -> None:
    for job in ("a", '"a"'):
        for separator in (",", ";", "\t"):
            text = f"{HEADER}\n{job},0,1,1,5,\nb,0,1,1,5, ,\n".replace(",", separator)
            assert read_csv_tasks(write(tmp_path, text)).n_tasks == 2
            text = f"{HEADER}\n{job},0,1,1,5,,9\n".replace(",", separator)
            assert problems_of(tmp_path, text) == ["2: more fields than the header"]


def test_row_numbers_are_lines_of_the_file(tmp_path: Path) -> None:
    assert problems_of(tmp_path, f'{HEADER}\n\n"a\nb",0,1,1,5\n,,,,\nc,0,1,x,5\n') == ["6: vcores: not a number: x"]


def test_text_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    path.write_bytes(f"{HEADER}\nJos\u00e9,0,1,1,5\n".encode("latin-1"))
    with pytest.raises(BadInput, match="2: job: not UTF-8"):
        read_csv_tasks(path)


def test_am_of_some_jobs_only(tmp_path: Path) -> None:
    text = f"{HEADER},am_vcores,am_memory_mb\na,0,1,1,5,,\nb,0,1,1,5,2,7\nc,0,1,1,5,,\nd,0,1,1,5,2,7\n"
    workload = read_csv_tasks(write(tmp_path, text))
    assert workload.jobs["has_am"].tolist() == [0, 1, 0, 1]
    assert workload.stages["kind"].tolist() == [TASKS, AM, TASKS, TASKS, AM, TASKS]
    assert workload.shapes[workload.stages["shape"][1]].tolist() == [7, 2000]
    assert workload.tasks["duration_ms"].tolist() == [1, 0, 1, 1, 0, 1]


def test_columns_in_any_order_with_blanks_quotes_and_a_byte_order_mark(tmp_path: Path) -> None:
    text = '\ufeffmemory_mb , vcores,job,duration_ms,submit_ms\n 5 ,0.25,"a, b",1e3,0\n'
    workload = read_csv_tasks(write(tmp_path, text))
    assert workload.job_name(0) == "a, b"
    assert workload.shapes.tolist() == [[5, 250]]
    assert workload.tasks["duration_ms"].tolist() == [1000]


def test_compressed_is_the_same(tmp_path: Path) -> None:
    packed = tmp_path / "small.csv.gz"
    packed.write_bytes(gzip.compress((FIXTURES / "small.csv").read_bytes()))
    workload = load_workload(str(packed))
    assert workload.name == "small"
    assert workload_hash(workload) == workload_hash(load_workload(str(FIXTURES / "small.csv")))


def test_use_may_be_known_for_some_tasks_only(tmp_path: Path) -> None:
    workload = read_csv_tasks(write(tmp_path, f"{HEADER},used_vcores,used_memory_mb\na,0,1,1,5,,\na,0,1,1,5,1,2\n"))
    assert workload.tasks["first_segment"].tolist() == [-1, 0]
    assert workload.segments["use"].tolist() == [[2, 1000]]
    assert not workload.has_use


@pytest.mark.parametrize("quoted", [False, True])
@pytest.mark.parametrize(("separator", "called"), [(";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
def test_other_separators_are_recognised_and_said(tmp_path: Path, separator: str, called: str, quoted: bool) -> None:
    rows = [f"user,{HEADER},queue", ",a,0,1,1,5,x", "u,b,0,1,1,5,", ",c,0,1,1.5,5", " "]
    if quoted:
        rows[3] = ',"c",0,1,1.5,5'
    plain = read_csv_tasks(write(tmp_path, "\n".join(rows)))
    path = write(tmp_path, "\n".join(rows).replace(",", separator))
    workload = read_csv_tasks(path)
    assert differences(workload, plain) == []
    assert workload.about == {"source": "csv", "remarks": [f"is separated by {called}"]}
    imported = import_trace([str(path)]).imported
    assert differences(imported.workload, plain) == []
    assert imported.notes == [f"w.csv is separated by {called}"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_and_packed_files_are_recognised_whatever_their_names(tmp_path: Path, encoding: str) -> None:
    text = f"{HEADER}\n" + "".join(f"j\u00f6b-\U0001f9f5-{number},0,{number},1,5\n" for number in range(50_000))
    plain = read_csv_tasks(write(tmp_path, text))
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    path = tmp_path / "w.csv"
    path.write_bytes((mark + text).encode(encoding))
    assert differences(read_csv_tasks(path), plain) == []
    for pack, packing in ((gzip.compress, "gzip"), (lzma.compress, "xz")):
        path.write_bytes(pack((mark + text).encode(encoding)))
        assert differences(read_csv_tasks(path), plain) == []
        imported = import_trace([str(path)]).imported
        assert differences(imported.workload, plain) == []
        assert imported.notes == [f"w.csv is packed ({packing}), which its name does not say", "w.csv is UTF-16"]


def test_sizes_may_have_a_unit(tmp_path: Path) -> None:
    header = f"{HEADER},stage,after,reads_mb,input_node,input_mb,am_vcores,am_memory_mb,used_memory_mb"
    rows = ["a,0,10,1,64GB,x,,,n7,2.5 GB,1,512m,1.5GiB", "a,0,10,1,0.5TB,z,x,1GiB,,,1,512,2048 k"]
    workload = read_csv_tasks(write(tmp_path, "\n".join([header, *rows])))
    assert workload.shapes[workload.stages["shape"], 0].tolist() == [512, 65536, 524288]
    assert workload.segments["use"][:, 0].tolist() == [1536, 2]
    assert workload.input_bytes is not None
    assert workload.edge_bytes is not None
    assert workload.input_bytes.tolist() == [0, 2_500_000_000, 0]  # of data a GB has 10^9 bytes
    assert workload.edge_bytes.tolist() == [2**30]
    assert problems_of(tmp_path, f"{HEADER}\na,0,10,1,64GX\nb,0,10,2GB,5\n") == [
        "3: vcores: not a number: 2GB",
        "2: memory_mb: not a number: 64GX",
    ]


def test_use_of_one_resource_is_enough(tmp_path: Path) -> None:
    for column, use in (("used_memory_mb", [2, 1000]), ("used_vcores", [5, 2000])):
        workload = read_csv_tasks(write(tmp_path, f"{HEADER},{column}\na,0,1,1,5,\na,0,1,1,5,2\n"))
        assert workload.tasks["first_segment"].tolist() == [-1, 0]
        assert workload.segments["use"].tolist() == [use]
    rows = "a,0,1,1,5,2,\na,0,1,1,5,,0.5\na,0,1,1,5,3,0.25\n"
    workload = read_csv_tasks(write(tmp_path, f"{HEADER},used_memory_mb,used_vcores\n{rows}"))
    assert workload.segments["use"].tolist() == [[2, 1000], [5, 500], [3, 250]]


def test_fractions_of_binary_numbers_are_not_rounded_up(tmp_path: Path) -> None:
    tenths = [f"j{number},0,1,{number / 10},1" for number in range(1, 200)]
    workload = read_csv_tasks(write(tmp_path, "\n".join([HEADER, *tenths])))
    vcores = workload.shapes[workload.stages["shape"], 1]
    assert vcores.tolist() == [number * 100 for number in range(1, 200)]


def test_all_wrong_values_at_once(tmp_path: Path) -> None:
    text = f"{HEADER},quue\n,0,1,1,1,x\na,-1,1.5,nan,inf,x\na,0,,abc,1e13,x\n"
    assert problems_of(tmp_path, text) == [
        '1: quue: unknown column, did you mean "queue"?',
        "2: job: empty",
        "3: submit_ms: negative: -1",
        "4: duration_ms: empty",
        "3: duration_ms: not a whole number of milliseconds: 1.5",
        "4: vcores: not a number: abc",
        "3: vcores: not a finite number: nan",
        "3: memory_mb: not a finite number: inf",
        "4: memory_mb: larger than 1000000000000: 1e13",
    ]


def test_missing_and_repeated_columns(tmp_path: Path) -> None:
    assert problems_of(tmp_path, "job,submit_ms,vcores,vcores\na,0,1,1\n") == [
        "1: duration_ms: missing column",
        "1: memory_mb: missing column",
        "1: vcores: column given twice",
    ]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "empty: the first line must be a header"),
        ("\n", "empty: the first line must be a header"),
        (f"{HEADER}\n", "only a header"),
        (f"{HEADER}\n\n\n", "only a header"),
        (f"{HEADER}\na,0,1,1,1,9\n", "2: more fields than the header"),
        (f"{HEADER}\na,0,1\n", "2: vcores: empty"),
        (f"{HEADER}\na,0,-5,1,1\n", "2: duration_ms: negative: -5"),
        (f"{HEADER}\na,0,5,1,-1\n", "2: memory_mb: negative: -1"),
        (f"{HEADER}\na,0,5,1,1\na,1,5,1,1\n", "3: submit_ms: differs from an earlier row of the job"),
        (f"{HEADER},queue\na,0,5,1,1,x\na,0,5,1,1,y\n", "3: queue: differs from an earlier row of the job"),
        (f"{HEADER},am_vcores\na,0,5,1,1,1\n", "2: am_vcores: given without am_memory_mb"),
        (f"{HEADER},stage,after\na,0,5,1,1,x,y\n", '2: after: the job has no stage "y"'),
        (f"{HEADER},stage,after\na,0,5,1,1,x,x\n", "2: after: cycle in job a: x waits for x"),
    ],
)
def test_each_kind_of_bad_input(tmp_path: Path, text: str, what: str) -> None:
    assert problems_of(tmp_path, text)[0].startswith(what)


def test_cycle_is_named_and_other_jobs_are_not_blamed(tmp_path: Path) -> None:
    rows = ["a,0,1,1,1,x,z", "a,0,1,1,1,y,x w", "a,0,1,1,1,z,y", "a,0,1,1,1,w,", "b,0,1,1,1,x,y", "b,0,1,1,1,y,"]
    found = problems_of(tmp_path, "\n".join([f"{HEADER},stage,after", *rows]))
    assert found == ["2: after: cycle in job a: x waits for z waits for y waits for x"]


def test_a_column_wrong_throughout_does_not_flood(tmp_path: Path) -> None:
    found = problems_of(tmp_path, "\n".join([HEADER, *(f"j{number},0,1,1,-1" for number in range(100))]))
    assert len(found) == 21
    assert found[-1] == "memory_mb: and 80 more rows like these"


def test_binary_rubbish_is_bad_input(tmp_path: Path) -> None:
    for name in ("w.csv", "w.csv.gz"):
        path = tmp_path / name
        path.write_bytes(bytes(np.random.default_rng(0).integers(0, 256, 5000, dtype=np.uint8)))
        with pytest.raises(BadInput):
            read_csv_tasks(path)


def test_truncated_gzip_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "w.csv.gz"
    whole = gzip.compress((HEADER + "\n" + "".join(f"j{n},{n},1,1,{n * 7919 % 10007}\n" for n in range(5000))).encode())
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadInput):
        read_csv_tasks(path)


def test_data_sizes(tmp_path: Path) -> None:
    header = f"{HEADER},stage,after,reads_mb,input_node,input_mb"
    rows = ["a,0,10,1,5,x,,,n7,2.5", "a,0,10,1,5,y,,,,", "a,0,10,1,5,z,x;y,3,,", "a,0,10,1,5,z,,1,,"]
    workload = read_csv_tasks(write(tmp_path, "\n".join([header, *rows])))
    # z's tasks read 4 MB in all, half of it from x and half from y.
    assert workload.edge_bytes is not None
    assert workload.edge_bytes.tolist() == [2_000_000, 2_000_000]
    assert workload.input_bytes is not None
    assert workload.input_bytes.tolist() == [2_500_000, 0, 0, 0]
    assert workload.hosts == ("n7",)
    assert workload.prefers is not None
    assert workload.prefers.tolist() == [0, -1, -1, -1]


def test_data_sizes_that_mean_nothing(tmp_path: Path) -> None:
    header = f"{HEADER},stage,after,reads_mb,input_node,input_mb"
    assert problems_of(tmp_path, f"{header}\na,0,10,1,5,y,,,,7") == ["2: input_mb: given without input_node"]
    rows = ["a,0,10,1,5,x,,3,,", "a,0,10,1,5,z,x,99999999,,"]
    assert problems_of(tmp_path, "\n".join([header, *rows])) == [
        "2: reads_mb: the stage has no predecessor to read from",
        "3: reads_mb: more than 70368744 MB in a stage or task",
    ]
