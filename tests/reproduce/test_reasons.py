"""Explanations follow the data: each is fed with what it says, and with the contrary."""

from __future__ import annotations

import numpy as np
import pytest

from heddle.reproduce.admission_control import low_rounds
from heddle.reproduce.admission_control.deficit import what_deficits_say
from heddle.reproduce.admission_control.fragments import what_nodes_say
from heddle.reproduce.admission_control.reasons import lowest_round, near_best, rounds_above
from heddle.reproduce.before import before_and_after
from heddle.reproduce.claims import Claim
from heddle.reproduce.constants import parse_constants
from heddle.reproduce.dress.by_part import what_parts_say
from heddle.reproduce.dress.costs import above_zero, mean_above_zero
from heddle.reproduce.dress.release import Release, unannounced_pct
from heddle.reproduce.dress.shares import what_shares_say
from heddle.reproduce.haste.batches import JobKind
from heddle.reproduce.haste.reasons import heads_that_block, sizes_of_reduces, who_is_ahead
from heddle.reproduce.haste.trajectories import what_weight_says
from heddle.reproduce.haste.why import EVEN_TIES, what_changes_say
from heddle.reproduce.network_aware.reasons import same_work, what_there_is_to_gain, where_slower
from heddle.reproduce.network_aware.widest import what_fetching_says
from heddle.reproduce.usage_feedback.damping import what_a_finer_width_says
from heddle.reproduce.usage_feedback.extreme_fit import what_decides, what_forms_say
from heddle.reproduce.usage_feedback.over_reserved import what_sizes_say, where_load_caps
from heddle.reproduce.usage_feedback.surface import what_is_left
from heddle.reproduce.verdicts import Judgement, Verdict


def around(mean: float) -> dict[int, float]:
    return {0: mean - 0.1, 1: mean, 2: mean + 0.1}


def test_slower_placements_wait_for_hosts_or_for_data() -> None:
    spans = {10: {"a": around(-12)}, 100: {"a": around(18)}, 1000: {"a": around(74)}}

    def fetching(at_100: float, at_1000: float) -> dict[int, dict[str, dict[int, float]]]:
        return {10: {"a": around(-30)}, 100: {"a": around(at_100)}, 1000: {"a": around(at_1000)}}

    slower = where_slower(spans, fetching(-20, -10))
    assert "(100, 1000 Mbit/s)" in slower
    assert "-20 to -10 %: tasks wait for their hosts, not for data" in slower
    assert where_slower(spans, fetching(5, 10)).endswith("data takes longer to come.")
    assert where_slower(spans, fetching(-20, 10)).endswith("that does not explain it.")
    assert where_slower(spans, fetching(0, 0)).endswith("that does not explain it.")
    assert where_slower({10: {"a": around(-12)}}, fetching(5, 5)) == ""
    assert where_slower({10: {"a": {0: -30.0, 1: 40.0}}}, fetching(5, 5)) == ""  # slower by chance


def test_use_is_another_view_of_time_only_if_their_product_stays() -> None:
    spans = {10: {"a": around(25.0)}}
    assert "same work in another time" in same_work(spans, {10: {"a": around(-20.0)}})
    assert "more than another view" in same_work(spans, {10: {"a": around(5.0)}})


def test_what_there_is_to_gain_is_what_was_measured() -> None:
    said = what_there_is_to_gain({10: 0.6, 1000: 0.02}, {"near": 0.31, "far": 0.05})
    assert "60 % at 10, 2 % at 1000 Mbit/s" in said
    assert "31 % under near, 5 % under far" in said


def test_those_ahead_waste_less_or_they_do_not() -> None:
    spans = {"haste": 95.0, "ffd-dp": 92.0, "drf": 90.0, "fifo": 100.0}
    assert "All that are ahead waste less" in who_is_ahead(
        "haste", "fifo", spans, {"haste": 80, "ffd-dp": 44, "drf": 60}
    )
    assert "only ffd-dp waste less" in who_is_ahead("haste", "fifo", spans, {"haste": 80, "ffd-dp": 44, "drf": 160})
    assert "that is not why" in who_is_ahead("haste", "fifo", spans, {"haste": 80, "ffd-dp": 90, "drf": 160})
    assert who_is_ahead("drf", "fifo", spans, {}) == ""


def test_reduces_are_counted_by_what_they_ask_for() -> None:
    small = JobKind(1, 1, 3072, 1, 2048, 1, 1.0, 1.0, 0)
    equal = JobKind(1, 1, 2048, 1, 2048, 1, 1.0, 1.0, 0)
    assert "in 2 of 3 jobs" in sizes_of_reduces([small, small, equal])
    assert "in 0 of 1 jobs" in sizes_of_reduces([equal])


def test_fifo_loses_behind_heads_or_it_does_not() -> None:
    assert "that much it leaves free" in heads_that_block(87.0)
    assert "loses nothing much" in heads_that_block(99.5)


@pytest.mark.parametrize(("by_start", "word"), [(0.0, "does not matter"), (12.0, "matters: ")])
def test_the_share_that_dress_starts_with_matters_or_not(by_start: float, word: str) -> None:
    gains = {
        "dress": {"a": around(10.0)},
        "dress(initial_share=0.4)": {"a": around(10.0 + by_start)},
        "small-pool(share=0.1)": {"a": around(5.0)},
        "small-pool(share=0.4)": {"a": around(30.0)},
    }
    said = what_shares_say(gains)
    assert word in said
    assert "more in 1 of 2 cases (-5.0, +20.0 points)" in said


def test_releases_for_which_nothing_was_predicted() -> None:
    true = np.array([0.0, 4.0, 0.0, 0.0, 1.0, 0.0])
    assert unannounced_pct(Release(np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0]), true, true), 3.0) == pytest.approx(80.0)
    assert unannounced_pct(Release(true, true, true), 3.0) == 0.0


def test_later_jobs_are_counted_on_each_seed() -> None:
    changes = {0: np.array([-10.0, 5.0, 15.0]), 1: np.array([-1.0, -2.0, 0.0])}
    assert above_zero(changes) == {0: 2.0, 1: 0.0}
    assert mean_above_zero(changes) == {0: 10.0, 1: 0.0}


def test_a_round_that_stalled_does_not_score_high() -> None:
    loss = {(1, 1): {0: 1.0, 1: 2.0}, (2, 1): {0: 9.0}, (3, 1): {0: -1.0, 1: 4.9}}
    assert rounds_above(loss, 5.0, range(3)) == {0: 2.0, 1: 2.0, 2: 0.0}
    assert lowest_round(loss) == "91.0 % (AM 2, tasks 1 vcores)"
    assert lowest_round({(1, 1): {}}) == "unknown"


def test_a_flat_optimum_has_many_reserves_near_the_best() -> None:
    assert near_best({8: 100.0, 16: 100.9, 24: 102.0, 32: None}) == 2


def test_vcores_left_over_explain_a_low_score_or_not() -> None:
    low, high = {"short": around(80.0)}, {"short": around(99.0)}
    assert "+19.0 points (19.0 to 19.0): equation (1) counts" in what_nodes_say({8: low, 9: high}, 3)
    assert "does not explain" in what_nodes_say({8: high, 9: high}, 3)
    assert "does not explain" in what_nodes_say({8: high, 9: low}, 3)


def test_the_gain_goes_with_how_far_use_stays_below_its_peak_or_not() -> None:
    of_peak = {"plateau": 1.0, "ramp": 0.9, "late": 0.8}
    assert "the sooner" in what_forms_say({"plateau": 5.0, "ramp": -6.0, "late": -12.0}, of_peak)
    assert "does not decide" in what_forms_say({"plateau": -12.0, "ramp": -6.0, "late": 5.0}, of_peak)


def test_the_form_decides_or_the_load_does() -> None:
    by_form = {("ramp", 0.0): 0.4, ("ramp", 1.2): 0.3, ("flat", 0.0): 0.0, ("flat", 1.2): 0.0}
    assert what_decides(by_form).endswith("the form of use decides.")
    by_load = {("ramp", 0.0): 0.4, ("ramp", 1.2): 0.0, ("flat", 0.0): 0.3, ("flat", 1.2): 0.0}
    assert what_decides(by_load).endswith("the load decides.")


def test_the_size_of_containers_decides_the_bottleneck_or_not() -> None:
    cores = {"small, all at once": 1.2, "small, load 1.2": 1.4, "large, all at once": 2.0}

    def ahead(*means: float) -> dict[str, dict[int, float]]:
        return dict(zip(cores, map(around, means), strict=True))

    said = what_sizes_say(ahead(5, 4, -5), cores, 1.56)
    assert "small in 2 of 2 (1.30 GB to a used core), large in 0 of 1 (2.00 GB" in said
    assert said.endswith("The size of containers decides it.")
    assert what_sizes_say(ahead(5, -4, -5), cores, 1.56).endswith("alone does not decide it.")
    assert what_sizes_say(ahead(-5, -4, -5), cores, 1.56).endswith("alone does not decide it.")


def test_short_tasks_still_hold_more_than_they_leave_unused_or_less() -> None:
    assert what_is_left(2.0, 10, 0.125).endswith("more.")
    assert what_is_left(2.0, 60, 0.125).endswith("less.")


def test_load_caps_the_gain_or_it_does_not() -> None:
    most = {"small, load 1.2, 20 s": 17.0, "small, load 2, 20 s": 50.0}
    said = where_load_caps(
        {"small, load 1.2, 20 s": 16.0, "small, load 2, 20 s": 26.0, "small, all at once": 30.0}, most
    )
    assert "at load 1.2 at 17.0 % (16.0 reached; 1 of 1 days within 3 points)" in said
    assert "at load 2 at 50.0 % (26.0 reached; 0 of 1 days" in said
    assert said.endswith("30.0 %.")


def test_claims_stand_beside_what_became_of_them_before() -> None:
    data = b"[before.a]\nvalue = ['direction', 17.1]\nfrom = 'an older page'\n"
    judged = Judgement("effect", Verdict.REPRODUCED, 20.0, (19.0, 21.0))
    claims = [Claim(id_, "", "27.6 %", "%", judged) for id_ in ("a", "b")]
    rows = before_and_after(parse_constants("dress", data), claims).rows
    assert rows == (
        ("a", "27.6 %", "17.1: direction", "20: reproduced"),
        ("b", "27.6 %", "new", "20: reproduced"),
    )


def test_a_lead_can_widen_unless_tasks_do_little_but_fetch() -> None:
    assert what_fetching_says({10: 0.99, 100: 0.95, 1000: 0.4}).endswith("a lead cannot widen.")
    assert "at 10, 100 they do little else" in what_fetching_says({1000: 0.4, 100: 0.95, 10: 0.99})
    assert what_fetching_says({10: 0.95, 100: 0.6}).endswith("does not explain why it does not.")


def test_parts_of_dress_bring_out_what_the_whole_does_not() -> None:
    missed, came = Verdict.NOT_REPRODUCED, Verdict.REPRODUCED
    said = what_parts_say(
        "dress",
        {
            "dress": {"II.1": missed, "II.2": came, "M.3": missed},
            "pools": {"II.1": came, "II.2": missed, "M.3": missed},
            "order": {"II.1": missed, "II.2": came, "M.3": missed},
        },
    )
    assert said.startswith("Not reproduced: II.1, M.3.")
    assert "`pools` II.1, and loses II.2; `order` none, and loses none" in said
    assert what_parts_say("dress", {"dress": {"II.1": came}, "pools": {"II.1": missed}}).startswith("All of these")


def test_the_width_of_sameness_decides_where_falling_stops_or_not() -> None:
    steady = {"ramp": {0.0: around(100), 0.1: around(98), 0.3: around(96.5), 1.0: around(96.2)}}
    assert what_a_finer_width_says(steady, 0.3).endswith("reproduced, so that the width decides.")
    steep = {"ramp": {0.0: around(200), 0.1: around(150), 0.3: around(100), 1.0: around(100)}}
    assert "does not decide" in what_a_finer_width_says(steep, 0.3)


def test_equation_3_can_decide_often_or_hardly_ever() -> None:
    assert what_deficits_say(30.0, 1.5).endswith("too little to show in a makespan.")
    assert what_deficits_say(30.0, 20.0).endswith("this is not why it does not.")


def test_low_rounds_are_explained_by_nodes_by_starting_ams_or_not_at_all() -> None:
    nodes, start, both = low_rounds.CHANGES
    low = {low_rounds.AS_IT_IS: around(80)}
    scores = {
        ("short", (3, 3)): low | {nodes: around(95), start: around(80), both: around(95)},
        ("short", (2, 4)): low | {nodes: around(80), start: around(95), both: around(80)},
        ("short", (1, 1)): low | {nodes: around(80), start: around(80), both: around(80)},
    }
    said = low_rounds.what_changes_say(scores, 88.5)
    assert f"Of 3 such rounds these changes lift to 88.5 % or more: {nodes}: 1; {start}: 1; {both}: 1" in said
    assert said.endswith("Lifted by none: short 1/1.")
    assert low_rounds.what_changes_say({("short", (3, 3)): scores["short", (3, 3)]}, 88.5).endswith("unexplained.")
    assert low_rounds.what_changes_say({}, 88.5) == "No round scores so low."


def test_changes_are_named_with_which_a_claim_comes_out() -> None:
    def makespans(own: float, packed: float, even: float, fair: float, capacity: float) -> dict[str, dict[int, float]]:
        given = {"haste": own, "ffd-dp": packed, EVEN_TIES: even, "fair": fair, "capacity": capacity, "fifo": 100.0}
        return {policy: around(value) for policy, value in given.items()}

    spans = {"nothing": makespans(95, 90, 91, 120, 110), "no AMs": makespans(80, 90, 91, 85, 85),
             "equal reduces": makespans(92, 90, 99, 120, 95)}  # fmt: skip
    said = what_changes_say("haste", ["fifo", "fair", "capacity", "ffd-dp"], spans, spans)
    assert "shortest makespan of the published ones with: no AMs." in said
    assert f"With `{EVEN_TIES}` in place of `ffd-dp`: no AMs; equal reduces." in said
    assert "allocates most with: none of them." in said
    assert said.endswith("both ahead of FIFO with: no AMs.")


def test_the_weight_of_alignment_decides_or_not() -> None:
    missed, came = (Judgement("order", verdict, 0.2, None) for verdict in (Verdict.NOT_REPRODUCED, Verdict.REPRODUCED))
    assert what_weight_says(missed, came).endswith("The weight of alignment decides.")
    assert what_weight_says(missed, missed).endswith("does not decide.")
