"""The ResourceManager's REST interface, as far as the controller needs it, on the standard library alone.

Used by one thread. Answers are plain JSON objects; rm_answers.py gives them a meaning.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode
from xml.sax.saxutils import escape

from heddle.model.nested_text import from_json
from heddle.yarn.live.connection import BYTES, Answer, HttpConnection
from heddle.yarn.live.ids import application_id
from heddle.yarn.live.pace import Pace
from heddle.yarn.live.rm_answers import Reading, rows_under, text
from heddle.yarn.live.wire import EXCERPT, Connect, Wire, YarnError

ROOT: Final = "/ws/v1/cluster"
OK: Final = 200
LIVE_STATES: Final = "ACCEPTED,RUNNING"
# What the RM does with containers that no longer fit after a shrink. Leaving it out means 0, which kills them; any
# value >= 0 sticks to the node, so that even a later shrink with -1 kills. Never anything but -1.
KEEP_CONTAINERS: Final = -1


class RmClient:
    """Talks to one ResourceManager, or to whichever of several is active.

    `user` is sent as user.name, which is all that simple authentication asks for. `pace`: how often it may be asked;
    without one there is no limit.
    """

    def __init__(
        self,
        address: str,
        *,
        timeout_s: float = 10.0,
        user: str | None = None,
        connect: Connect = HttpConnection,
        pace: Pace | None = None,
    ) -> None:
        self._connect, self._wire = connect, Wire(address, timeout_s, connect)
        self._user = user
        self.pace = pace

    def elsewhere(self, address: str, timeout_s: float) -> RmClient:
        """A client of another daemon, reached in the same way, as nobody in particular."""
        return RmClient(address, timeout_s=timeout_s, connect=self._connect)

    def beside(self, timeout_s: float) -> RmClient:
        """One for another thread: of the same daemon, by the same pace."""
        address, connect = self.address, self._connect
        return RmClient(address, timeout_s=timeout_s, user=self._user, connect=connect, pace=self.pace)

    @property
    def address(self) -> str:
        """What it was told, put in order."""
        return self._wire.address

    def __enter__(self) -> RmClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._wire.close()

    def get(self, path: str, **query: str) -> dict[str, Any]:
        """Any page that answers with JSON: of the RM outside /ws/v1/cluster, or of another daemon at this address."""
        return self._call("GET", path, query=query, root="")

    def get_list(self, path: str, **query: str) -> list[Any]:
        """As get(), of a page that answers with a bare JSON list, as Spark's do."""
        url, answer = self._answer("GET", path, query=query, root="")
        if not isinstance(answer, list):
            raise YarnError(url, f"not a JSON list: {str(answer)[:EXCERPT]!r}", OK)
        return answer

    def get_bytes(self, path: str, **query: str) -> bytes:
        """As get(), of a page that answers with a file."""
        return self._exchange("GET", path, query=query, root="", accept=BYTES)[1].data

    def nodes(self) -> dict[str, Any]:
        """Nodes that the RM counts as part of the cluster; lost ones are not in it."""
        return self._call("GET", "/nodes")

    def apps(self, states: str = LIVE_STATES, **query: str) -> dict[str, Any]:
        """Applications in these states; those that wait or run come with their outstanding requests."""
        return self._call("GET", "/apps", query={"states": states, **query})

    def app(self, app_id: str) -> dict[str, Any] | None:
        """One application in any state; None if the RM has forgotten it."""
        return self._get_if_there(f"/apps/{quote(app_id)}")

    def containers(self, app_id: str, attempt_id: str) -> dict[str, Any] | None:
        """Live containers of an attempt; None if it is gone meanwhile."""
        return self._get_if_there(f"/apps/{quote(app_id)}/appattempts/{quote(attempt_id)}/containers")

    def _get_if_there(self, path: str) -> dict[str, Any] | None:
        """The answer, or None where the RM says that there is no such thing."""
        try:
            return self._call("GET", path)
        except YarnError as error:
            if error.status == 404:
                return None
            raise

    def scheduler(self) -> dict[str, Any]:
        return self._call("GET", "/scheduler")

    def scheduler_settings(self) -> dict[str, str]:
        """Every setting of the Capacity scheduler, by full name. YarnError where they cannot be changed live."""
        answer = self._call("GET", "/scheduler-conf")
        with Reading(f"{self.address}{ROOT}/scheduler-conf"):
            return {text(row["name"]): text(row["value"]) for row in rows_under(answer, "property")}

    def change_queues(self, changes: Mapping[str, Mapping[str, str | None]]) -> None:
        """Changes settings of queues, all at once or none: queue -> setting -> value; None takes it out."""
        lines = ["<sched-conf>"]
        for queue, settings in changes.items():
            lines.append(f"<update-queue><queue-name>{escape(queue)}</queue-name><params>")
            for key, value in settings.items():
                lines.append(f"<entry><key>{escape(key)}</key><value>{escape(value or '')}</value></entry>")
            lines.append("</params></update-queue>")
        lines.append("</sched-conf>")
        self._call("PUT", "/scheduler-conf", xml="".join(lines))

    def set_priority(self, app_id: str, priority: int) -> None:
        """The RM keeps it within its own bounds."""
        self._call("PUT", f"/apps/{quote(app_id)}/priority", body={"priority": priority})

    def move(self, app_id: str, queue: str) -> None:
        """Moves an application, with what it has and waits for, to another leaf queue."""
        self._call("PUT", f"/apps/{quote(app_id)}/queue", body={"queue": queue})

    def setting(self, name: str) -> str | None:
        """A setting of the RM itself; None: not set."""
        try:
            return text(self.get("/conf", name=name)["property"]["value"])
        except (KeyError, TypeError):
            return None
        except YarnError as error:
            if error.status == 404:
                return None
            raise

    def new_application(self) -> str:
        """The id under which an application can be submitted."""
        answer = self._call("POST", "/apps/new-application")
        with Reading(f"{self.address}{ROOT}/apps/new-application"):
            return application_id(answer["application-id"])

    def submit(self, application: dict[str, Any]) -> None:
        """Submits an application; the RM goes on to answer before it runs."""
        self._call("POST", "/apps", body=application, empty_answer=True)

    def kill(self, app_id: str) -> None:
        """For applications that heddle itself submitted, and no others."""
        self._call("PUT", f"/apps/{quote(app_id)}/state", body={"state": "KILLED"})

    def resize_node(self, node_id: str, memory_mb: int, vcores: int) -> None:
        """Changes what may be promised on a node, killing nothing.

        The RM changes it a moment after it has answered, and the answer often still holds the size before: only a
        later look at the nodes tells what became of it.
        """
        body = {"resource": {"memory": memory_mb, "vCores": vcores}, "overCommitTimeout": KEEP_CONTAINERS}
        path = f"/nodes/{quote(node_id, safe=':')}/resource"
        answer = self._call("POST", path, body=body)
        told = answer.get("resourceInfo", answer)
        if not isinstance(told, dict) or "memory" not in told:
            raise YarnError(self.address + ROOT + path, f"no size in the answer {answer}")

    def send(self, method: str, path: str, text: str, headers: dict[str, str]) -> dict[str, Any]:
        """Sends plain text to a page that answers with JSON, outside /ws/v1/cluster."""
        return self._call(method, path, root="", text=text, headers=headers)

    def _call(self, method: str, path: str, **asked: Any) -> dict[str, Any]:
        """Of a page that answers with a JSON object, as all of YARN's do."""
        url, answer = self._answer(method, path, **asked)
        if not isinstance(answer, dict):
            raise YarnError(url, f"not a JSON object: {str(answer)[:EXCERPT]!r}", OK)
        return answer

    def _answer(self, method: str, path: str, *, empty_answer: bool = False, **asked: Any) -> tuple[str, Any]:
        """The URL that answered, and what it said."""
        url, answer = self._exchange(method, path, **asked)
        # What is told in XML is answered by a sentence.
        if asked.get("xml") is not None or (empty_answer and not answer.text):
            return url, {}
        try:
            return url, from_json(answer.text)
        except ValueError:
            raise YarnError(url, f"not JSON: {answer.text[:EXCERPT]!r}", OK, answer.text) from None

    def _exchange(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, str] | None = None,
        body: dict[str, Any] | None = None,
        xml: str | None = None,
        text: str | None = None,
        headers: dict[str, str] | None = None,
        root: str = ROOT,
        accept: str = "application/json",
    ) -> tuple[str, Answer]:
        asked = {**(query or {}), **({"user.name": self._user} if self._user else {})}
        target = root + path + (f"?{urlencode(asked, safe=',')}" if asked else "")
        headers = {"Accept": accept, **(headers or {})}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if xml is not None:
            headers = {"Content-Type": "application/xml"}
        if text is not None:
            headers["Content-Type"] = "text/plain; charset=utf-8"
        sent = json.dumps(body) if body is not None else xml if xml is not None else text
        if self.pace is not None:
            self.pace.turn(waits=method == "GET")
        return self._wire.exchange(method, target, sent, headers)
