"""What runs in the container of a replayed task: holds memory and burns CPU for a while, then ends.

    python3 task.py DURATION_MS MB:MILLICORES:UNTIL_PERMYRIAD[,...] [shuffle=MS] [gate=HOST:PORT/STAGE]
        [fetch=HOST:PORT:BYTES,...]

With a gate it first holds the memory of its first level, idle, until that says that its maps are done; then, still
idle, until it has fetched what it reads from other nodes (serve.py), and as long as its shuffle takes. Each level holds
until so many ten-thousandths of the duration have passed. Memory is the resident memory of the process; cores are
shares of CPU time. The time is the clock's: a machine that has too few cores gives less CPU, not a longer task. This
file is sent to the nodes alone, so it imports the standard library only.
"""

from __future__ import annotations

import mmap
import os
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor

CHUNK_BYTES = 1 << 20
PAGE_BYTES = 4096
SLICE_S = 0.1
ONE_CORE = 1000


class Memory:
    """Pages that were written to, so that they are really there."""

    def __init__(self) -> None:
        self._chunks: list[mmap.mmap] = []

    def hold(self, total_mb: int) -> None:
        """Grows or shrinks so that this process as a whole has so much."""
        wanted = max(0, total_mb - _interpreter_mb(len(self._chunks)))
        while len(self._chunks) > wanted:
            self._chunks.pop().close()
        while len(self._chunks) < wanted:
            chunk = mmap.mmap(-1, CHUNK_BYTES)
            chunk[::PAGE_BYTES] = b"\1" * (CHUNK_BYTES // PAGE_BYTES)
            self._chunks.append(chunk)


def _interpreter_mb(held_mb: int) -> int:
    with open("/proc/self/statm") as file:
        resident_pages = int(file.read().split()[1])
    return max(0, (resident_pages * PAGE_BYTES >> 20) - held_mb)


def burn(millicores: int, until_s: float) -> None:
    """Uses this share of one core until then, in short slices."""
    share = min(millicores, ONE_CORE) / ONE_CORE
    while (now := time.monotonic()) < until_s:
        end_s = min(now + SLICE_S, until_s)
        busy_s = time.process_time() + share * (end_s - now)
        while time.process_time() < busy_s and time.monotonic() < end_s:
            sum(range(500))
        time.sleep(max(0.0, end_s - time.monotonic()))


def wait_at(gate: str) -> None:
    """Until the application master says that the maps are done. A gate that is gone is an error: so is the job."""
    address, _, stage = gate.partition("/")
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(f"{stage}\n".encode())
        if not connection.recv(1):
            raise ConnectionError("the application master has gone")


def fetch(sources: list[str]) -> None:
    """All at a time, each over a connection of its own, as MapReduce's reduces do."""
    with ThreadPoolExecutor(len(sources)) as threads:
        list(threads.map(fetch_from, sources))


def fetch_from(source: str) -> None:
    host, port, wanted = source.split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(f"{wanted}\n".encode())
        received = 0
        while part := connection.recv(CHUNK_BYTES):
            received += len(part)
    if received != int(wanted):
        raise ConnectionError(f"{host} sent {received} bytes of {wanted}")


def main(duration_ms: int, levels: list[tuple[int, int, int]], told: dict[str, str]) -> None:
    memory = Memory()
    memory.hold(levels[0][0])
    if "gate" in told:
        wait_at(told["gate"])
    if "fetch" in told:
        fetch(told["fetch"].split(","))
    time.sleep(int(told.get("shuffle", 0)) / 1000)
    began_s = time.monotonic()
    ends_s = [began_s + duration_ms * until / 10_000 / 1000 for _, _, until in levels]
    most = max(millicores for _, millicores, _ in levels)
    extra_cores = 0
    for core in range(1, -(-most // ONE_CORE)):  # one process for each further core
        if os.fork() == 0:
            extra_cores = core
            break
    for (memory_mb, millicores, _), end_s in zip(levels, ends_s, strict=True):
        if not extra_cores:
            memory.hold(memory_mb)
        burn(max(0, millicores - extra_cores * ONE_CORE), end_s)


def levels_of(text: str) -> list[tuple[int, int, int]]:
    return [tuple(map(int, level.split(":"))) for level in text.split(",")]  # type: ignore[misc]


if __name__ == "__main__":
    main(int(sys.argv[1]), levels_of(sys.argv[2]), dict(word.split("=", 1) for word in sys.argv[3:]))
