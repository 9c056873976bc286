"""Spark programs for mixtures: pi, sort, sleep. spark-submit runs it as `spark_programs.py PROGRAM ARGUMENTS`.

On RDDs, not on data frames: setting up Spark's SQL takes a driver and each executor longer than all that these do.
"""

import random
import sys
import time
from collections.abc import Iterator

from pyspark import SparkContext


def pi(spark: SparkContext, tasks: int, darts: int) -> None:
    """Darts at a circle: one stage of tasks that burn CPU, each throwing as many darts."""

    def hits(task: int) -> int:
        throw = random.Random(task).random
        return sum(throw() ** 2 + throw() ** 2 <= 1 for _ in range(darts))

    print("pi is about", 4 * spark.parallelize(range(tasks), tasks).map(hits).sum() / (tasks * darts))


def sort(spark: SparkContext, tasks: int, rows: int) -> None:
    """Rows that each task makes, exchanged between as many tasks and sorted there: a shuffle."""

    def made(task: int) -> Iterator[tuple[float, int]]:
        draw = random.Random(task).random
        return ((draw(), row) for row in range(rows))

    # Where the ranges lie is known, so that Spark need not run everything twice to find out.
    exchanged = spark.parallelize(range(tasks), tasks).flatMap(made)
    exchanged.repartitionAndSortWithinPartitions(tasks, lambda key: int(key * tasks)).foreach(lambda _: None)


def sleep(spark: SparkContext, tasks: int, task_ms: int) -> None:
    """Tasks that hold their place and take hardly any CPU."""
    spark.parallelize(range(tasks), tasks).foreach(lambda _: time.sleep(task_ms / 1000))


if __name__ == "__main__":
    program = {"pi": pi, "sort": sort, "sleep": sleep}[sys.argv[1]]
    program(SparkContext.getOrCreate(), *(int(argument) for argument in sys.argv[2:]))
