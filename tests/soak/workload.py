"""A random mixture of replayed, MapReduce and Spark jobs that loads a cluster between 50 and 130 %.

Load is memory reserved over time against what the nodes have of their own. Of MapReduce and Spark it is an estimate:
how long their JVMs take depends on the machine. Most jobs are replayed, since a JVM costs seconds of CPU.
"""

from collections.abc import Callable
from random import Random

from heddle.model.workload import PERMYRIAD
from heddle.yarn.testbed.mixture import MapReduceJob, RealJob, SparkJob
from heddle.yarn.testbed.replay.plan import ReplayJob

QUEUE = "root.default"
LEAST_LOAD, MOST_LOAD = 0.5, 1.3
SPELL_S = 300.0  # for which the load stays the same
_AM_MB, _AM_S = 256, 20
_MR_MB, _MR_JVM_S = 512, 15
_SPARK_MB, _SPARK_JVM_S = 704, 25

Drawn = tuple[RealJob, float]  # with what it reserves, in MB times seconds


def mixture(seed: int, for_s: float, capacity_mb: int) -> tuple[list[RealJob], list[float]]:
    """The jobs in the order of their times, and the load of each spell."""
    random = Random(f"{seed} jobs")
    loads = [random.uniform(LEAST_LOAD, MOST_LOAD) for _ in range(int(for_s // SPELL_S) + 1)]
    jobs: list[RealJob] = []
    at_s = 0.0
    while at_s < for_s:
        load = loads[int(at_s // SPELL_S)]
        draw: Callable[[Random, int, int], Drawn] = random.choices((_replayed, _mapreduce, _spark), (80, 12, 8))[0]
        job, mb_s = draw(random, len(jobs), round(1000 * at_s))
        jobs.append(job)
        at_s += random.expovariate(load * capacity_mb / mb_s)
    return jobs, loads


def _replayed(random: Random, number: int, at_ms: int) -> Drawn:
    """Most use little of what they reserve, some nearly all; half of them only after a while."""
    tasks, reserved_mb = random.randint(1, 10), random.choice((256, 512, 768, 1024, 1536))
    share = random.uniform(0.2, 0.6) if random.random() < 0.85 else random.uniform(0.6, 0.9)
    used_mb, cpu = max(32, int(share * reserved_mb)), random.randint(10, 60)
    grows = f"{max(32, used_mb // 2)}:{cpu}:{random.randint(1000, 6000)}," if random.random() < 0.5 else ""
    lines, mb_s = [f"stage {reserved_mb} 1 -"], 0.0
    longest_s = random.uniform(10, 60)
    for _ in range(tasks):
        task_s = random.uniform(0.5, 1) * longest_s
        lines.append(f"task 0 {round(1000 * task_s)} {grows}{used_mb}:{cpu}:{PERMYRIAD}")
        mb_s += reserved_mb * task_s
    am_mb_s = _AM_MB * (_AM_S + longest_s)
    job = ReplayJob(f"replay-{number}", at_ms, QUEUE, 0, (_AM_MB, 1), (), tasks, tuple(lines))
    return job, mb_s + am_mb_s


def _mapreduce(random: Random, number: int, at_ms: int) -> Drawn:
    program = random.choice(("pi", "sleep", "teragen"))
    maps, sleep_s = random.randint(2, 6), random.randint(2, 20)
    arguments = {
        "pi": (maps, 1000),
        "sleep": ("-m", maps, "-r", 1, "-mt", 1000 * sleep_s, "-rt", 1000),
        "teragen": (100_000, f"{{work}}/generated-{number}"),
    }[program]
    words = tuple(str(argument) for argument in arguments)
    task_s = _MR_JVM_S + (sleep_s if program == "sleep" else 0)
    job = MapReduceJob(f"{program}-{number}", at_ms, QUEUE, program, words, (), ())
    return job, _MR_MB * ((1 + maps) * task_s + 2 * _MR_JVM_S + task_s)


def _spark(random: Random, number: int, at_ms: int) -> Drawn:
    program, executors = random.choice(("pi", "sleep", "sort")), random.randint(1, 2)
    tasks, sleep_s = random.randint(2, 8), random.randint(1, 4)
    amount = {"pi": 10_000, "sleep": 1000 * sleep_s, "sort": 10_000}[program]
    options = (("spark.executor.instances", str(executors)),)
    job = SparkJob(f"spark-{program}-{number}", at_ms, QUEUE, program, (str(tasks), str(amount)), options, ())
    works_s = tasks * sleep_s / executors if program == "sleep" else 0.0
    return job, _SPARK_MB * ((1 + executors) * (_SPARK_JVM_S + works_s) + _SPARK_JVM_S)
