"""Levers that look right and are not: each is refused when it is loaded, or fails certification."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from heddle.experiments.conformance import certify
from heddle.model.cluster import Cluster, Node
from heddle.model.errors import BadInput
from heddle.policy.lever import Question
from heddle.policy.parse import parse_policy
from heddle.run import simulate
from heddle.sim.run import run_engine
from heddle.traces.build import JobSpec, Profile, StageSpec, TaskSpec, build
from heddle.yarn.live.levers import charging_young, unfit

Write = Callable[[str], str]


def refusal(policy: str) -> str:
    with pytest.raises(BadInput) as caught:
        parse_policy(policy)
    said = str(caught.value)
    assert policy.removesuffix(":mine") + ":" in said, "no line of the user's file"
    return said


def key(body: str, options: str = "") -> str:
    return f"@ordering({options})\ndef mine(view, state, params, stage):\n    {body}\n"


# Refused when loaded


def test_a_fraction_is_not_cut_to_0(lever: Write) -> None:
    """And the line is that of the return that gives it."""
    assert ":6: mine returns a fraction" in refusal(lever(key("return 1 / (1 + stage)")))
    body = "if stage > 3:\n        return 1\n    half = stage / 2\n    return half"
    assert ":9: mine returns a fraction" in refusal(lever(key(body)))


def test_a_hook_that_returns_nothing(lever: Write) -> None:
    assert ":5: mine returns nothing; every path must return" in refusal(lever(key("stage + 1")))
    heard = "def heard(view, state, params, kind, node, stage, container, value):\n    value + 1\n\n"
    said = refusal(lever(heard + key("return stage", "on_event=heard, listens=(EVENT_ARRIVED,)")))
    assert ":4: heard returns nothing; return 1 if the host must ask again, else 0" in said


def test_a_hook_that_returns_nothing_now_and_then(lever: Write) -> None:
    said = refusal(lever(key("if stage > 3:\n        return 1")))
    assert ":5: mine does not return a value on every path; every path must return a whole number" in said
    assert ":7: mine does not return" in refusal(lever(key("if stage > 3:\n        return\n    return 1")))


def test_a_fraction_of_a_hook_that_cannot_be_compiled(lever: Write) -> None:
    """Nobody can tell before it runs; then it is told, and not cut."""
    policy = lever("import json\n\n" + key('return float(json.loads("0.5"))'))
    with pytest.warns(UserWarning, match="cannot be compiled"):
        chosen = parse_policy(policy)
    with pytest.raises(BadInput, match=r"returned 0\.5, not a whole number"):
        simulate(build("x", [waiting_job("a", 0), waiting_job("b", 0)]), one_slot(), chosen)


def test_events_that_never_come(lever: Write) -> None:
    listening = "def heard(view, state, params, kind, node, stage, container, value):\n    return 0\n\n"
    said = refusal(lever(listening + key("return stage", "on_event=heard, listens=(EVENT_REPORTED,)")))
    assert "an ordering lever gets no EVENT_REPORTED; only sizing and partition do" in said
    assert "or poll: listen to EVENT_TICK with every_ms set" in said
    said = refusal(lever(listening + key("return stage", "on_event=heard, listens=(EVENT_INNER_FINISHED,)")))
    assert "no scheduler sees EVENT_INNER_FINISHED" in said
    assert "listens to nothing" in refusal(lever(listening + key("return stage", "on_event=heard")))
    assert "has no on_event" in refusal(lever(key("return stage", "listens=(EVENT_ARRIVED,)")))


def test_a_tick_without_an_interval(lever: Write) -> None:
    listening = "def heard(view, state, params, kind, node, stage, container, value):\n    return 0\n\n"
    assert "every_ms" in refusal(lever(listening + key("return stage", "on_event=heard, listens=(EVENT_TICK,)")))
    assert "every_ms" in refusal(lever(key("return stage", 'depends_on="time"')))


def test_another_signature(lever: Write) -> None:
    said = refusal(lever("@sizing()\ndef mine(view, state, params, r, node):\n    return 0\n"))
    assert "total gets (view, state, params, node, r), in this order" in said
    assert "key gets" in refusal(lever("@ordering()\ndef mine(view, stage):\n    return 0\n"))


def test_a_hook_that_does_not_exist(lever: Write) -> None:
    assert "no hook or trait 'depend_on', did you mean \"depends_on\"?" in refusal(
        lever(key("return stage", 'depend_on="time"'))
    )


def test_names_that_do_not_exist(lever: Write) -> None:
    assert ':6: stagee is not defined, did you mean "stage"?' in refusal(lever(key("return stagee")))
    assert ":6: mine: view.stagee does not exist" in refusal(lever(key('return view.stagee["held"][stage]')))
    assert "no column 'hold'" in refusal(lever(key('return view.stage["hold"][stage]')))
    assert "no column 'b'" in refusal(lever(key('return state.job["b"][0]', 'state=State(job="a")')))
    assert "params.b does not exist" in refusal(lever(key("return params.b", 'parameters=(Parameter("a", 1, ""),)')))


# Fails certification


HELPER = (
    "from heddle.model.compilable import callable_too\n\n"
    "@callable_too\ndef now(view):\n    return view.clock['now_ms'][0]\n\n"
)


def rules(policy: str) -> list[str]:
    return [f"{failure.rule}: {failure.what}" for failure in certify(policy, seeds=1)]


def test_a_key_that_goes_stale_as_time_passes(lever: Write) -> None:
    """Refused when loaded; where another function reads the clock, only a run shows it."""
    body = 'return view.stage["asked_at_ms"][stage] - {} // 1000'
    direct, by_helper = body.format('view.clock["now_ms"][0]'), body.format("now(view)")
    said = refusal(lever(key("clock = view.clock\n    " + direct.replace("view.clock", "clock"))))
    assert ':7: mine: key reads view.clock["now_ms"], but nobody asks for the key again as time passes: say' in said
    assert rules(lever(key(direct, 'depends_on="time", every_ms=1000'))) == []
    broken = rules(lever(HELPER + key(by_helper)))
    assert any("it must declare what it reads" in one and 'view.clock["now_ms"]' in one for one in broken)


def test_a_column_of_the_levers_own_may_have_the_name_of_one_of_the_view(lever: Write) -> None:
    text = (
        "@sizing(state=State(container=per_resource('used')))\ndef mine(view, state, params, node, r):\n    return {}\n"
    )
    own = "view.node['allowance'][node, r] - state.container['used'][0, r]"
    assert parse_policy(lever(text.format(own))).sizing.summary == ""
    said = refusal(lever(text.format(own.replace("state", "view"))))
    assert ':6: mine: total reads view.container["used"], which is 0 unless a sizing lever says reads_con' in said
    switched = "@sizing(reads_containers='x', parameters=(Parameter('x', True, ''),), "
    assert parse_policy(lever(text.format(own.replace("state", "view")).replace("@sizing(", switched)))


def test_a_refusal_by_the_clock_without_a_tick(lever: Write) -> None:
    """Nothing but time passes: nobody asks again."""
    text = "def mine(view, state, params, job):\n    return 3 if view.clock['now_ms'][0] < 200_000 else 0\n"
    stalled = [one for one in rules(lever("@admission()\n" + text)) if one.startswith("work that could finish did not")]
    assert stalled
    assert all('admits reads view.clock["now_ms"], but nobody asks it again' in one for one in stalled)
    assert all("listen to EVENT_TICK" in one for one in stalled)
    ticking = "@admission(on_event=heard, listens=(EVENT_TICK,), every_ms=1000)\n"
    assert rules(lever(LISTENING.format("pass", 1) + ticking + text)) == []


def test_a_key_that_goes_stale_as_containers_come_and_go(lever: Write) -> None:
    body = 'return view.job["allocated"][view.stage_spec["job"][stage], 0]'
    assert any('view.job["allocated"]' in one for one in rules(lever(key(body))))
    assert rules(lever(key(body, 'depends_on="allocations"'))) == []
    others = rules(lever(key('return view.job["allocated"][0, 0]', 'depends_on="allocations"')))
    assert any('view.job["allocated"] of another job' in one for one in others)


def test_a_total_that_nobody_asks_for_again(lever: Write) -> None:
    total = "@sizing({})\ndef mine(view, state, params, node, r):\n    return {}\n"
    used = 'view.node["allowance"][node, r] - view.node["used"][node, r] // 100'
    assert any('view.node["used"]' in one for one in rules(lever(total.format('depends_on="allocations"', used))))
    assert rules(lever(total.format("", used))) == []


def test_a_hook_that_writes_into_the_view(lever: Write) -> None:
    """What is compiled is refused when it is loaded."""
    policy = lever("import json\n\n" + key('view.job["priority"][0] = json.loads("0")\n    return stage'))
    with pytest.warns(UserWarning, match="cannot be compiled"):
        broken = rules(policy)
    assert any("it stops the host with an error" in one and "read-only" in one for one in broken)


def test_a_lever_that_goes_by_what_only_a_simulator_tells(lever: Write) -> None:
    """Which nodes hold input, no ResourceManager tells before a run: live, all keys would be 0."""
    prepare = 'def prepare(setup):\n    setup.state.table["known"] = len(setup.first_preferred)\n\n'
    declared = 'state=State(table=("known",)), prepare=prepare'
    broken = rules(lever(prepare + key('return stage * state.table["known"][0]', declared)))
    assert len(broken) == 1
    assert "its answers differ between the hosts" in broken[0]
    assert "in the simulator, 0 live" in broken[0]


def test_what_is_remembered_of_a_container_goes_with_it_in_both_hosts(lever: Write) -> None:
    """Also where the lever does not hear of allocations."""
    text = """
def heard(view, state, params, kind, node, stage, container, value):
    row = view.node["first_container"][node]
    while row >= 0:
        state.container["seen"][row] += value
        row = view.container["next"][row]
    return 0


@sizing(state=State(container="seen"), on_event=heard, listens=(EVENT_REPORTED,))
def mine(view, state, params, node, r):
    total, row = view.node["allowance"][node, r], view.node["first_container"][node]
    while row >= 0:
        total -= min(20, state.container["seen"][row])
        row = view.container["next"][row]
    return total
"""
    assert rules(lever(text)) == []


LISTENING = "def heard(view, state, params, kind, node, stage, container, value):\n    {}\n    return {}\n\n"


def test_use_of_containers_that_nobody_fills_in(lever: Write) -> None:
    """Without the trait it is 0, also where on_event reads it."""
    read = "@callable_too\ndef of(view, row):\n    return view.container['used'][row, 0]\n\n"
    add_up = """state.node['sum'][node] = 0
    row = view.node['first_container'][node]
    while row >= 0:
        state.node['sum'][node] += of(view, row)
        row = view.container['next'][row]"""
    text = (
        HELPER
        + read
        + LISTENING.format(add_up, 0)
        + (
            "@sizing(state=State(node='sum'), on_event=heard, listens=(EVENT_REPORTED,){})\n"
            "def mine(view, state, params, node, r):\n"
            "    return view.node['allowance'][node, r] - state.node['sum'][node] // 1000\n"
        )
    )
    (said,) = rules(lever(text.format("")))
    assert 'on_event reads view.container["used"], which is 0 unless a sizing lever says reads_containers=True' in said
    assert rules(lever(text.format(", reads_containers=True"))) == []


def test_a_total_that_depends_on_nothing(lever: Write) -> None:
    total = "@sizing(depends_on='nothing')\ndef mine(view, state, params, node, r):\n    return 1000\n"
    assert "nobody asks for it: say depends_on='allocations'" in refusal(lever(total))


def test_a_key_that_an_event_changes_without_saying_so(lever: Write) -> None:
    job = "view.stage_spec['job'][stage]"
    key_of_state = key(
        f"return state.job['last'][{job}]", "state=State(job='last'), on_event=heard, listens=(EVENT_ALLOCATED,)"
    )
    change = f"state.job['last'][{job}] += 1"
    (said,) = rules(lever(LISTENING.format(change, 0) + key_of_state))
    assert "it does not say when its answers change" in said
    assert "key of stage" in said
    assert "from 0 to 1, but on_event returned 0" in said
    assert rules(lever(LISTENING.format(change, 1) + key_of_state)) == []
    by_allocations = key_of_state.replace("state=State", "depends_on='allocations', state=State")
    assert rules(lever(LISTENING.format(change, 0) + by_allocations)) == []


# What hosts used to do behind a lever's back

PEAKS: Profile = ((5000, (200, 100)), (10_000, (600, 100)))
FORESEEING = """
def prepare(setup):
    setup.state.node["mine"] = 7


@sizing(state=State(node=per_resource("mine")), prepare=prepare, truth=("future_peak",), depends_on="time")
def mine(view, state, params, node, r):
    if state.node["mine"][node, r] != 7:
        return 0
    return view.node["allocated"][node, r] + view.node["allowance"][node, r] - state.truth["future_peak"][node, r]
"""


def test_a_clairvoyant_sizing_of_a_user_keeps_its_state(lever: Write) -> None:
    policy = lever(FORESEEING)
    jobs = [JobSpec(f"j{i}", 0, [StageSpec("s", (600, 100), [TaskSpec(1000, PEAKS)] * 4)]) for i in range(3)]
    workload, cluster = build("x", jobs), Cluster((Node("n", (2000, 4000), (2000, 4000)),))
    ended = run_engine(workload, cluster, parse_policy(policy), 0, False)
    assert (ended.sim.levers[Question.SIZING].state.node["mine"] == 7).all()
    told = simulate(workload, cluster, "oracle", record=True).attempts
    assert simulate(workload, cluster, policy, record=True).attempts.equals(told)
    assert unfit(parse_policy(policy)) == [f"{policy} needs to know the future, which a live cluster cannot provide"]


def test_a_parameter_called_young_reports_is_the_users_own(lever: Write) -> None:
    text = (
        '@sizing(parameters=(Parameter("young_reports", 3, "of mine"),){})\n'
        "def mine(view, state, params, node, r):\n"
        '    return view.node["allowance"][node, r] + params.young_reports // 1000\n'
    )
    mine = parse_policy(lever(text.format("")))
    assert charging_young(mine, 10_000, 1000) == mine
    declared = parse_policy(lever(text.format(', young="young_reports"')))
    assert charging_young(declared, 10_000, 1000).sizing.parameter("young_reports") == 10


# Keys that depend on time


def one_slot() -> Cluster:
    return Cluster((Node("n", (100, 1000), (100, 1000)),))


def waiting_job(name: str, submit_at_ms: int, duration_ms: int = 10) -> JobSpec:
    return JobSpec(name, submit_at_ms, [StageSpec("s", (100, 1000), [TaskSpec(duration_ms)])])


def test_keys_that_depend_on_time_are_asked_for_again(lever: Write) -> None:
    """Until 5 s the first job goes first, then the last; the node is busy until 6 s."""
    policy = lever(key('return stage if view.clock["now_ms"][0] < 5000 else -stage', 'depends_on="time", every_ms=500'))
    jobs = [waiting_job("busy", 0, 6000), waiting_job("a", 1000), waiting_job("b", 1000)]
    run = simulate(build("x", jobs), one_slot(), policy, record=True)
    began = dict(run.jobs.select("name", "started_at_ms").rows())
    assert began["b"] < began["a"]


# Limits that depend on reports


def test_what_a_report_changes_is_looked_at_in_that_instant(lever: Write) -> None:
    """All of a pool may be used once the node has reported, which it does every second."""
    policy = lever(
        "def open_it(view, state, params, kind, node, stage, container, value):\n"
        "    opens = state.table['is_open'][0] == 0\n"
        "    state.table['is_open'][0] = 1\n"
        "    return 1 if opens else 0\n\n\n"
        "def limit(view, state, params, pool, r):\n"
        "    return view.clock['total'][0, r] // (1 if state.table['is_open'][0] else 2)\n\n\n"
        "@partition(limit=limit, n_pools=2, state=State(table='is_open'),\n"
        "           on_event=open_it, listens=(EVENT_REPORTED,))\n"
        "def mine(view, state, params, job):\n    return 0\n"
    )
    node = Node("n", (200, 2000), (200, 2000))
    run = simulate(build("x", [waiting_job("a", 0, 9000), waiting_job("b", 0)]), Cluster((node,)), policy, record=True)
    began = dict(run.jobs.select("name", "started_at_ms").rows())
    assert began["a"] == 0 < began["b"] <= 1000


# Decorators for all six


def test_queues_and_partition_can_be_declared_too(lever: Write) -> None:
    text = '@queues()\ndef mine(view, state, params, queue):\n    """by number"""\n    return queue\n'
    assert parse_policy(lever(text)).queues.by_queue
    text = (
        "def half(view, state, params, pool, r):\n    return view.clock['total'][0, r] // 2\n\n"
        "@partition(limit=half, n_pools=2)\ndef mine(view, state, params, job):\n    return job % 2\n"
    )
    assert parse_policy(lever(text)).partition.n_pools == 2


def test_nodes_kept_in_a_way_that_nobody_knows(lever: Write) -> None:
    declared = "@queues({})\ndef mine(view, state, params, queue):\n    return queue\n"
    assert "asks keeps(), which it does not have" in refusal(lever(declared.format('reserves="starved"')))
    assert "which is not one of its parameters" in refusal(lever(declared.format('reserves="now and then"')))
    choices = 'parameters=(Parameter("keep", "none", "how", choices=("none", "seldom")),), reserves="keep"'
    assert "may be 'seldom'; known: none, capacity, starved, always" in refusal(lever(declared.format(choices)))


def test_tuples_of_traits_that_nobody_knows(lever: Write) -> None:
    declared = "@placement({})\ndef mine(view, state, params, node, stage):\n    return 0\n"
    assert "by_data is 'by=load'; write a tuple" in refusal(lever(declared.format('by_data="by=load"')))
    unknown = lever(declared.format('by_data=("by=load",)'))
    assert "by_data is switched by 'by=load', which is not one of its parameters" in refusal(unknown)
