"""A staging folder is shared, so others may have put links into it."""

from pathlib import Path
from typing import Any

from heddle.yarn.live.client import RmClient
from heddle.yarn.testbed.replay.plan import ReplayJob
from heddle.yarn.testbed.replay.submit import Submitter


class Taking(RmClient):
    """Takes every application."""

    def _call(self, method: str, path: str, **_: Any) -> dict[str, Any]:
        return {"application-id": "application_1700000000000_0001"}


def test_links_in_a_staging_folder_are_replaced(tmp_path: Path) -> None:
    jar, precious, staging = tmp_path / "jar", tmp_path / "precious", tmp_path / "staging"
    jar.write_bytes(b"jar")
    precious.write_text("precious")
    staging.mkdir()
    for name in ("replay.jar", "task.py", "plan-0.txt"):
        (staging / name).symlink_to(precious)
    with Taking("http://rm:8088") as client:
        job = ReplayJob("job", 0, "default", 0, (256, 1), (), 1, ("task 0 1000 256:1:10000",))
        assert Submitter(client, staging, jar).submit(job, 0) == "application_1700000000000_0001"
    assert precious.read_text() == "precious"
    assert not any(path.is_symlink() for path in staging.iterdir())
    assert (staging / "replay.jar").read_bytes() == b"jar"
