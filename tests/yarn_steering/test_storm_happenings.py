"""What befalls a storm's YARN befalls it as it would a real one."""

from heddle.storm.answers import ROOT, RmAnswers
from heddle.storm.faults import Fault, Kind
from heddle.storm.happening import ADDED
from heddle.storm.machine import Asked
from heddle.storm.storm import Storm
from heddle.storm.timeline import BEGAN_S
from heddle.storm.truth import By
from heddle.yarn.live.applying.standing import AM_SHARE, GUARANTEE
from heddle.yarn.live.connection import Answer

POOLED = next(seed for seed in range(99) if Storm(seed, ()).has_pools)
SPLIT = next(seed for seed in range(99) if Storm(seed, ()).policy.startswith("admission-control"))


def asked(storm: Storm, path: str, method: str = "GET", body: str | None = None) -> Answer:
    return RmAnswers(storm.yarn, {}, None).answer(Asked("", method, f"{ROOT}{path}", body, {}))


def test_a_resourcemanager_without_recovery_forgets_who_runs_and_keeps_who_waits() -> None:
    storm = Storm(SPLIT, (Fault(Kind.RM_LOSES_APPS, 40.0, 2.0, 0),))
    ran, waited, later = set[str](), set[str](), set[str]()

    def before() -> None:
        for app in storm.yarn.look().apps.values():
            (ran if app.running else waited).add(app.id)

    storm.timeline.at(BEGAN_S + 39.99, before)
    storm.timeline.at(BEGAN_S + 43.0, lambda: later.update(storm.yarn.look().apps))
    outcome = storm.run()
    assert outcome.broken == ()
    assert ran
    assert not ran & later
    assert waited <= later
    ended = {f"application_0_{job:04d}" for job in storm.yarn.ended_apps()}
    assert not ran & ended
    assert asked(storm, f"/apps/{min(ran)}").status == 404


def test_an_application_is_not_moved_to_a_queue_that_a_person_has_stopped() -> None:
    storm = Storm(POOLED, ())
    storm.yarn.stopped.add("root.pool-1")
    storm.timeline.run_until(BEGAN_S + 20.0)
    name = next(app.id for app in storm.yarn.look().apps.values() if app.queue == "root.pool-0")
    body = '{"queue": "root.pool-1"}'
    refused = asked(storm, f"/apps/{name}/queue", "PUT", body)
    assert refused.status == 400
    assert "STOPPED" in refused.text
    storm.yarn.stopped.clear()
    assert asked(storm, f"/apps/{name}/queue", "PUT", body).status == 200


def test_settings_of_a_queue_that_a_person_added_are_gone_when_they_remove_it() -> None:
    storm = Storm(SPLIT, (Fault(Kind.QUEUE_ADDED, 30.0, 30.0, 3),))
    share: list[tuple[str | None, str | None]] = []
    storm.timeline.at(
        BEGAN_S + 55.0,
        lambda: share.append((storm.yarn.setting(ADDED, GUARANTEE), storm.yarn.setting(ADDED, AM_SHARE))),
    )
    assert storm.run().broken == ()
    ((guarantee, ours),) = share
    assert guarantee == "10"
    assert ours is not None
    assert not any(ADDED in name for name in storm.yarn.settings)


def test_what_is_left_of_a_queue_that_was_removed_is_noticed() -> None:
    """YARN takes settings of a queue that is not there."""
    storm = Storm(SPLIT, (Fault(Kind.QUEUE_ADDED, 30.0, 30.0, 3),))
    storm.timeline.at(BEGAN_S + 165.0, lambda: storm.yarn.configure(ADDED, AM_SHARE, "0.3", By.US))
    assert f"{ADDED} {AM_SHARE} is still 0.3" in storm.run().broken[0]
