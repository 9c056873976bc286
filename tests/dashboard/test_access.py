"""Nothing without the token, nothing by another name, nothing that another page has sent."""

import pytest
from starlette.testclient import TestClient

from heddle.dashboard.access import Access
from heddle.dashboard.board import Board
from heddle.dashboard.serving import served
from heddle.yarn.live.steering.desk import Desk
from heddle.yarn.live.steering.other_sites import KEPT_TO_OURSELVES

from .showing_up import controller

SAYS = {"session": "?", "confirmed": True}


def test_the_page_itself_has_no_secret_and_loads_nothing_from_elsewhere(client: TestClient, access: Access) -> None:
    page = client.get("/", headers={"authorization": ""})
    assert page.status_code == 200
    assert access.token not in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    for name in ("board.css", "board.js", "model.js", "stream.js", "parts.js", "tiles.js", "controls.js"):
        text = client.get(f"/page/{name}").text
        assert "http:" not in text
        assert "https:" not in text
    assert client.get("/page/nothing.js").status_code == 404
    assert client.get("/page/..%2Fapp.py").status_code == 404


@pytest.mark.parametrize("token", ["", "Bearer ", "Bearer wrong", "Basic {}", "{}"])
@pytest.mark.parametrize("path", ["/state", "/stream", "/actions/pause"])
def test_nothing_without_the_token(client: TestClient, access: Access, token: str, path: str) -> None:
    headers = {"authorization": token.format(access.token)}
    answer = (
        client.post(path, headers=headers, json=SAYS) if path.startswith("/act") else client.get(path, headers=headers)
    )
    assert answer.status_code == 403
    assert "nodes" not in answer.text


def test_the_token_in_the_address_is_not_taken(client: TestClient, access: Access) -> None:
    """Addresses end up in logs."""
    assert client.get(f"/state?token={access.token}", headers={"authorization": ""}).status_code == 403


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8790", 200),
        ("localhost:9000", 200),  # by a tunnel
        ("[::1]:8790", 200),
        ("desk.example:8790", 200),
        ("evil.example:8790", 403),  # DNS rebinding
        ("127.0.0.1.evil.example", 403),
        ("localhost.evil.example:8790", 403),
        ("", 403),
    ],
)
def test_only_known_names(client: TestClient, host: str, status: int) -> None:
    for path in ("/", "/state"):
        assert client.get(path, headers={"host": host, "origin": f"http://{host}"}).status_code == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "same-origin"}, 200),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}, 200),  # a link
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}, 403),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "script"}, 403),
        ({"origin": "http://evil.example"}, 403),
    ],
)
def test_pages_of_other_sites_are_not_answered(client: TestClient, headers: dict[str, str], status: int) -> None:
    """As by the metrics page: one rule for both."""
    answer = client.get("/", headers=headers)
    assert answer.status_code == status
    assert {name: answer.headers[name] for name in KEPT_TO_OURSELVES} == KEPT_TO_OURSELVES


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:3000"},  # another program of this machine
        {"origin": "null"},
        {"origin": ""},
        {"origin": "http://127.0.0.1:8790", "sec-fetch-site": "cross-site"},
    ],
)
def test_actions_of_other_pages_are_refused(client: TestClient, desk: Desk, headers: dict[str, str]) -> None:
    with controller(desk) as running:
        says = {"session": running.name, "confirmed": True}
        assert client.post("/actions/pause", headers=headers, json=says).status_code == 403
        assert not desk.paused
        assert client.post("/actions/pause", json=says).status_code == 200
        assert desk.paused


@pytest.mark.parametrize(
    "body", ["[" * 990, "{", "3", '{"session": 3, "confirmed": true}', '{"confirmed": true}', "x" * 2000]
)
def test_a_body_that_is_not_the_pages(client: TestClient, desk: Desk, body: str) -> None:
    with controller(desk):
        assert client.post("/actions/pause", content=body).status_code == 400
    assert not desk.paused


def test_actions_are_taken_by_post_alone(client: TestClient, desk: Desk) -> None:
    with controller(desk):
        for method in ("GET", "PUT", "DELETE", "PATCH"):
            assert client.request(method, "/actions/pause").status_code == 405
    assert not desk.paused


def test_every_link_has_a_token_of_its_own(board: Board) -> None:
    with served(board, "127.0.0.1", 0) as one, served(board, "127.0.0.1", 0) as other:
        tokens = {link.partition("#token=")[2] for link in (one, other)}
        assert len(tokens) == 2
        assert min(map(len, tokens)) >= 40
