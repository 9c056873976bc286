"""Pages on this machine answer nobody who got here by way of a browser that is looking at another site."""

import socket
import urllib.error
import urllib.request
from email.message import Message

import pytest

from heddle.yarn.live.steering.metrics_page import SteeringMetrics, served
from heddle.yarn.live.steering.other_sites import own_names, why_refused

NAMES = own_names("127.0.0.1")


def asked(**headers: str) -> str | None:
    message = Message()
    for name, value in headers.items():
        message[name.replace("_", "-")] = value
    return why_refused(message, NAMES)


@pytest.mark.parametrize("host", ["127.0.0.1:9464", "localhost:9464", "[::1]:9464", "10.0.0.7", socket.gethostname()])
def test_people_and_prometheus_are_answered(host: str) -> None:
    assert asked(Host=host) is None
    assert asked(Host=host, Origin=f"http://{host}", Sec_Fetch_Site="same-origin") is None


@pytest.mark.parametrize("host", ["evil.example:9464", "localhost.evil.example", "", "[", "127.0.0.1.evil.example"])
def test_a_name_that_somebody_let_point_here_is_not(host: str) -> None:
    """DNS rebinding."""
    assert asked(Host=host) is not None
    assert asked() is not None


def test_other_origins_are_not_answered() -> None:
    assert asked(Host="localhost:9464", Origin="http://evil.example") is not None
    assert asked(Host="localhost:9464", Origin="null") is not None
    assert asked(Host="localhost:9464", Origin="http://localhost:8000") is not None
    assert asked(Host="localhost:9464", Sec_Fetch_Site="cross-site") is not None
    assert asked(Host="localhost:9464", Sec_Fetch_Site="same-site") is not None
    in_frame = {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "iframe"}
    assert asked(Host="localhost:9464", **in_frame) is not None
    assert asked(Host="localhost:9464", **(in_frame | {"Sec_Fetch_Dest": "document"})) is None, "a link was followed"


def test_the_metrics_page_asks() -> None:
    with served(SteeringMetrics("p", "live"), "127.0.0.1", 0) as address:
        with urllib.request.urlopen(address, timeout=60) as answer:
            assert answer.headers["Access-Control-Allow-Origin"] is None
            assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert "Python" not in answer.headers["Server"]
        for header, value in (("Host", "evil.example"), ("Origin", "http://evil.example")):
            request = urllib.request.Request(address, headers={header: value})
            with pytest.raises(urllib.error.HTTPError, match="403") as refused:
                urllib.request.urlopen(request, timeout=60)
            assert b"heddle_steer" not in refused.value.read()
            refused.value.close()
        with pytest.raises(urllib.error.HTTPError, match="501") as refused:
            urllib.request.urlopen(urllib.request.Request(address, data=b"x", method="POST"), timeout=60)
        refused.value.close()
