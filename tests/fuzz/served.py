"""A daemon of Hadoop that answers with whatever a fuzzer thinks of, without a network."""

from __future__ import annotations

from heddle.yarn.live.client import RmClient
from heddle.yarn.live.connection import Answer

BETWEEN = b"\n--\n"  # answers, in the order in which they are asked for, the last one again and again; files of a trace


class Answering:
    def __init__(self, data: bytes) -> None:
        self._answers = data.split(BETWEEN)

    @property
    def kept(self) -> bool:
        return False

    def ask(self, method: str, target: str, body: str | None, headers: dict[str, str]) -> Answer:
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        return Answer(200, answer.decode("utf-8", "replace"))

    def close(self) -> None:
        """Nothing is open."""


def client_of(data: bytes) -> RmClient:
    return RmClient("http://rm:8088", connect=lambda address, timeout_s: Answering(data))
