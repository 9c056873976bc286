"""Every guard of a live controller and of the observer: the fault, how to take the guard out, the test that must fail.

`python -m tests.yarn_steering.without_guards` takes them out one by one. docs/yarn-faults.md is the same list for
people; a test holds the two together.
"""

from dataclasses import dataclass
from typing import Final

LIVE: Final = "src/heddle/yarn/live"
STEERING: Final = f"{LIVE}/steering"
APPLYING: Final = f"{LIVE}/applying"
OBSERVE: Final = "src/heddle/yarn/observe"
FAKE: Final = "tests/yarn_steering"
FAULTY_ANSWER: Final = f"{FAKE}/test_faults.py::test_a_faulty_answer_costs_a_step_and_nothing_else"
REAL: Final = "tests/yarn_real/test_faults.py"
JAVA: Final = "src/heddle/yarn/testbed/bridge/java/heddle/bridge"
CORE: Final = "tests/yarn_bridge/test_core.py"
OUTSIDE: Final = "tests/yarn_bridge/test_steering.py"
BRIDGED: Final = "tests/yarn_real/test_bridge.py"
GUARDED: Final = "tests/yarn_real/test_bridge_safety.py"
FAILS_OVER: Final = "tests/yarn_real/test_bridge_failover.py::test_failover"
ONLY_SIGNED: Final = "test_only_signed_whole_and_new_tables_are_taken"
THROWS: Final = "test_whatever_the_bridge_throws_inside_yarn_jobs_go_on"

DECOMMISSIONED: Final = "test_a_node_that_was_decommissioned_is_made_smaller_only_when_nothing_is_killed"


@dataclass(frozen=True)
class Guard:
    """`has` is in the file once; with `without` in its place the guard is gone, and each of the tests must fail."""

    fault: str
    where: str  # the function that holds the guard
    file: str
    has: str
    without: str
    tests: tuple[str, ...]  # `tests/yarn_real` is run only where it is asked for


GUARDS: Final = (
    Guard(
        "controller killed", "Watchdog.look", f"{STEERING}/watchdog.py",
        "            with desk.lock():\n                left = self._revert()",
        '            with desk.lock():\n                left = ["it"]',
        (f"{FAKE}/test_watchdog.py::test_kill_9", f"{REAL}::test_kill_9_of_the_controller"),
    ),
    Guard(
        "controller hangs", "Watchdog.look", f"{STEERING}/watchdog.py",
        "            if self._is_beating():", "            if True:",
        (
            f"{FAKE}/test_watchdog.py::test_a_controller_that_hangs",
            f"{REAL}::test_a_clock_that_jumps_and_a_controller_that_hangs",
        ),
    ),
    Guard(
        "controller begins while the watchdog puts back", "Watchdog._revert", f"{STEERING}/watchdog.py",
        "            left = self._revert(unless=self._is_beating)", "            left = self._revert()",
        (f"{FAKE}/test_found_sessions.py::test_a_watchdog_stops_when_a_controller_steers_again",),
    ),
    Guard(
        "controller begins after another that has not beaten for long", "Session.at_work", f"{STEERING}/session.py",
        "            self._beat()  # a watchdog", "            pass  # a watchdog",
        (f"{FAKE}/test_found_sessions.py::test_a_controller_beats_before_it_puts_back_what_was_left",),
    ),
    Guard(
        "what is owed is refused", "Session._try_what_is_owed", f"{STEERING}/session.py",
        "            if error.status is None:\n                raise\n            self._say(f\"cannot restore yet",
        "            if True:\n                raise\n            self._say(f\"cannot restore yet",
        (f"{FAKE}/test_found_sessions.py::test_a_node_whose_size_cannot_be_put_back_does_not_keep_us_from_steering",),
    ),
    Guard(
        "settings without a queue's guarantee", "RmKnobs._settings", f"{APPLYING}/rm_knobs.py",
        '            if GUARANTEE in of_queue and f"{PREFIX}.{queue}.{GUARANTEE}" not in settings:',
        "            if False:",
        (f"{FAKE}/test_found_answers.py::test_settings_that_lack_a_guarantee_are_not_taken_for_none",),
    ),
    Guard(
        "controller hung and goes on", "Session.step", f"{STEERING}/session.py",
        "        if self._now_s() - self._beat_s > self._terms.lease_s and self._controller is not None:",
        "        if False:",
        (f"{FAKE}/test_whole_session.py::test_a_last_change_that_takes_longer_than_the_lease",),
    ),
    Guard(
        "controller hung within a step and goes on", "Session._remember", f"{STEERING}/session.py",
        "        if self._now_s() - self._beat_s > self._terms.lease_s:\n            raise",
        "        if False:\n            raise",
        (f"{FAKE}/test_whole_session.py::test_a_step_that_takes_longer_than_the_lease",),
    ),
    Guard(
        "watchdog killed", "Session._guard", f"{STEERING}/session.py",
        "not (self._desk.has_baseline and watchdog_lives(self._desk))", "not self._desk.has_baseline",
        (
            f"{FAKE}/test_session.py::test_a_watchdog_that_was_killed_is_replaced",
            f"{REAL}::test_kill_9_of_the_watchdog",
        ),
    ),
    Guard(
        "both killed, next start", "Session._mend_what_was_left", f"{STEERING}/session.py",
        "        if left is not None:\n            self._say(", "        if False:\n            self._say(",
        (
            f"{FAKE}/test_session.py::test_what_a_dead_controller_left_is_mended_first",
            f"{REAL}::test_kill_9_of_both[the next start]",
        ),
    ),
    Guard(
        "both killed, restore", "session.restore", f"{STEERING}/session.py",
        "        left = desk.load() if not from_nodes else None\n", "        left = None\n",
        (f"{FAKE}/test_watchdog.py::test_both_die", f"{REAL}::test_kill_9_of_both[restore]"),
    ),
    Guard(
        "killed before what was found is on disk", "Applier._posted", f"{APPLYING}/applier.py",
        "                self._remember()\n", "",
        (f"{FAKE}/test_session.py::test_a_node_that_joins_later_is_saved_before_it_is_changed",),
    ),
    Guard(
        "two controllers", "Disk.lock", f"{LIVE}/files.py",
        "fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)", "pass",
        (f"{FAKE}/test_session.py::test_one_controller_at_a_time",),
    ),
    Guard(
        "NodeManager killed or hanging", "guards.distrust_stale_metrics", f"{APPLYING}/guards.py",
        "if seen.limits.stale_ms is None or seen.ages_ms[turn.name] <= seen.limits.stale_ms:", "if True:",
        (
            f"{FAKE}/test_limits.py::test_metrics_that_stand_still_are_not_believed",
            f"{REAL}::test_kill_9_of_a_nodemanager",
        ),
    ),
    Guard(
        "NodeManager starts anew with its own size", "Ownership._places", f"{APPLYING}/ownership.py",
        "(value, *self.asked.get(part, ()))", "self.asked.get(part, ())",
        (f"{FAKE}/test_limits.py::test_somebody_elses_size_is_left_alone_once_it_is_certain",),
    ),
    Guard(
        "RM restarted, its nodes not back yet", "Ownership.find", f"{APPLYING}/ownership.py",
        "        if any(self._is_new(part) for part, _ in now.parts()):\n"
        "            self.found = self.found | now.without(self.theirs)",
        "        self.found = now.without(self.theirs)",
        (f"{FAKE}/test_session.py::test_nodes_that_come_back_as_we_made_them_get_their_own_size",),
    ),
    Guard(
        "RM restarted, nodes come one by one", "Session._put_back_owed", f"{STEERING}/session.py",
        "            self._owed = still_owed(self._put_ours_back(self._owed))",
        "            self._owed = Standing()",
        (f"{FAKE}/test_session.py::test_what_is_owed_to_a_node_that_is_away_is_not_forgotten",),
    ),
    Guard(
        "RM restarted just after sizes were put back", "putting_back.HEARD_S", f"{APPLYING}/putting_back.py",
        "HEARD_S: Final = 2.0", "HEARD_S: Final = 0.0",
        (f"{FAKE}/test_whole_session.py::test_a_resourcemanager_that_restarts_before_nodemanagers_have_heard",),
    ),
    Guard(
        "RM restarted, or hung (SIGSTOP), for longer than the lease", "Session._anew", f"{STEERING}/session.py",
        "self._owed = self._ownership.found if self._live else Standing()", "self._owed = Standing()",
        (
            f"{FAKE}/test_faults.py::test_an_rm_that_hangs_for_longer_than_the_lease_has_all_put_back_when_it_answers",
            f"{REAL}::test_an_rm_that_hangs[12]",
        ),
    ),
    Guard(
        "RM away for longer than the lease", "Session.step", f"{STEERING}/session.py",
        "if self._now_s() - self._answered_s > self._terms.lease_s:", "if False:",
        (
            f"{FAKE}/test_session.py::test_an_rm_that_was_away_for_longer_than_the_lease",
            f"{REAL}::test_answers_that_are_malformed_partial_slow_or_refusals",
        ),
    ),
    Guard(
        "RM away when the controller dies", "Watchdog._revert", f"{STEERING}/watchdog.py",
        "            return baseline.found.names()\n        self._say", "            return []\n        self._say",
        (f"{FAKE}/test_watchdog.py::test_an_rm_that_is_away_when_the_controller_dies",),
    ),
    Guard(
        "RM away for an hour when the controller dies", "Watchdog._revert", f"{STEERING}/watchdog.py",
        "            self._away_since_s = None  # nobody", "            pass  # nobody",
        (f"{FAKE}/test_whole_session.py::test_an_rm_that_is_away_when_the_controller_dies",),
    ),
    Guard(
        "node added", "Session._remember", f"{STEERING}/session.py",
        "        if self._baseline() != self._saved:", "        if False:",
        (f"{FAKE}/test_session.py::test_a_node_that_joins_later_is_saved_before_it_is_changed",),
    ),
    Guard(
        "node removed", "Session._end", f"{STEERING}/session.py",
        "            if not owed:\n                self._forget()",
        "            if True:\n                self._forget()",
        (f"{FAKE}/test_faults.py::test_a_node_that_is_removed_and_one_that_is_added",),
    ),
    Guard(
        "node resized by somebody else", "Ownership._is_strange", f"{APPLYING}/ownership.py",
        "        return bool(places) and not any(same(part[0], value, place) for place in places)",
        "        return False",
        (
            f"{FAKE}/test_session.py::test_somebody_elses_size_is_not_put_back",
            f"{REAL}::test_a_node_is_added_resized_by_somebody_else_and_removed",
        ),
    ),
    Guard(
        "node that joined later, resized by somebody else", "Controller._act", f"{LIVE}/controller.py",
        "        ownership.find(Standing(sizes=self._sizes_found(own, snapshot)))\n", "",
        (f"{FAKE}/test_session.py::test_a_node_that_we_never_changed_is_somebody_elses_too",),
    ),
    Guard(
        "queue or application changed by somebody else", "guards.leave_to_others", f"{APPLYING}/guards.py",
        "    for parts, cause in ((theirs, Cause.FOREIGN), (strange, Cause.STRANGE)):", "    for parts, cause in ():",
        (
            f"{FAKE}/test_turning.py::test_somebody_elses_setting_is_left_to_them",
            f"{FAKE}/test_turning.py::test_somebody_elses_priority_is_left_to_them",
        ),
    ),
    Guard(
        "changed by somebody else just before the end", "putting_back.put_ours_back", f"{APPLYING}/putting_back.py",
        "        if theirs := ownership.look(knobs.read(_among(ownership.found, only))):",
        "        if theirs := Standing():",
        (f"{FAKE}/test_session.py::test_a_size_that_somebody_else_set_just_before_the_end_is_theirs",),
    ),
    Guard(
        "answers are stale when things are put back", "Ownership.is_confirmed", f"{APPLYING}/ownership.py",
        "return not asked or same(part[0], value, asked[-1])", "return True",
        (
            f"{FAKE}/test_found_answers.py::test_what_stale_answers_show_as_found_is_put_back_all_the_same",
            f"{FAKE}/test_changing_policy.py"
            "::test_what_stale_answers_show_as_handed_back_is_handed_back_all_the_same",
        ),
    ),
    Guard(
        "some answers are stale after a person's change", "Ownership.look", f"{APPLYING}/ownership.py",
        "                if self._calm[part] >= FOREIGN_LOOKS:", "                if True:",
        (f"{FAKE}/test_found_ownership.py::test_a_stale_answer_does_not_hide_what_a_person_set_once_it_was_seen",),
    ),
    Guard(
        "changed by somebody else while guards ask", "Applier._seen_again", f"{APPLYING}/applier.py",
        "            settled = self._seen_again(settled)\n", "            pass\n",
        (f"{FAKE}/test_found_ownership.py::test_what_a_person_sets_while_guards_ask_is_not_overwritten",),
    ),
    Guard(
        "changed by somebody else while other things are put back", "putting_back.put_back",
        f"{APPLYING}/putting_back.py",
        "    ours = whole.without(strange(before))", "    ours = whole",
        (f"{FAKE}/test_found_ownership.py::test_what_a_person_sets_while_other_things_are_put_back_is_left_alone",),
    ),
    Guard(
        "one setting of a queue changed by somebody else", "Turn.without", f"{APPLYING}/turn.py",
        "        if not kept:", "        if len(kept) < len(all_of_it):",
        (f"{FAKE}/test_found_ownership.py::test_what_is_still_ours_of_a_queue_is_turned",),
    ),
    Guard(
        "one guarantee changed by somebody else", "Ownership.strange", f"{APPLYING}/ownership.py",
        "        if any(setting == GUARANTEE for _, _, setting in found):", "        if False:",
        (f"{FAKE}/test_found_ownership.py::test_a_person_who_changes_one_guarantee_has_chosen_them_all",),
    ),
    Guard(
        "a change that is refused when things are put back", "putting_back.put_back", f"{APPLYING}/putting_back.py",
        "            if error.status not in _NOT_THIS:", "            if True:",
        (f"{FAKE}/test_found_ownership.py::test_what_is_refused_keeps_nothing_else_from_being_put_back",),
    ),
    Guard(
        "YARN preempts where nodes shrink", "preemption.keep_guarantees", f"{APPLYING}/preemption.py",
        "    if not shrinking or not seen.may_preempt():", "    if True:",
        (
            f"{FAKE}/test_preemption.py::test_no_node_shrinks_below_what_queues_hold",
            "tests/yarn_real/test_preemption.py::test_a_shrinking_cluster_preempts_nobody",
        ),
    ),
    Guard(
        "YARN preempts where pools move", "preemption.leave_pools", f"{APPLYING}/preemption.py",
        "    if not any(map(_moves_a_pool, turns)) or not seen.may_preempt():", "    if True:",
        (f"{FAKE}/test_preemption.py::test_preemption_that_is_switched_on_later_stops_pools_and_the_end_puts_them_back",),
    ),
    Guard(
        "YARN preempts within a queue", "preemption.leave_priorities", f"{APPLYING}/preemption.py",
        "    preempting = {queue.name for queue in seen.queues if queue.preempts_within}",
        "    preempting = set[str]()",
        (
            f"{FAKE}/test_preemption.py::test_priorities_are_not_changed_in_a_leaf_that_preempts",
        ),
    ),
    Guard(
        "a ResourceManager that does not say whether it preempts", "rm_knobs.may_preempt", f"{APPLYING}/rm_knobs.py",
        "    return any(value != \"false\" for value in (*told, live))",
        "    return any(value == \"true\" for value in (*told, live))",
        (f"{FAKE}/test_preemption.py::test_what_is_not_told_counts_as_preemption",),
    ),
    Guard(
        "answer without a field", "rm_answers.Reading", f"{LIVE}/rm_answers.py",
        "        if isinstance(error, KeyError):", "        if False:",
        (
            f"{FAULTY_ANSWER}[a field is missing]",
        ),
    ),
    Guard(
        "answer of another shape", "rm_answers.Reading", f"{LIVE}/rm_answers.py",
        "        if isinstance(error, (TypeError, ValueError, AttributeError, OverflowError)):", "        if False:",
        (
            f"{FAULTY_ANSWER}[no nodes where a list should be]",
            f"{REAL}::test_answers_that_are_malformed_partial_slow_or_refusals",
        ),
    ),
    Guard(
        "answer that is not JSON, or half of it", "RmClient._answer", f"{LIVE}/client.py",
        "            raise YarnError(url, f\"not JSON: {answer.text[:EXCERPT]!r}\", OK, answer.text) from None",
        "            raise",
        (
            f"{FAULTY_ANSWER}[not JSON]",
            f"{REAL}::test_answers_that_are_malformed_partial_slow_or_refusals",
        ),
    ),
    Guard(
        "answer cut off", "wire._Address._ask", f"{LIVE}/wire.py",
        "except (OSError, HTTPException) as error:", "except OSError as error:",
        (
            f"{FAULTY_ANSWER}[cut off]",
            f"{REAL}::test_answers_that_are_malformed_partial_slow_or_refusals",
        ),
    ),
    Guard(
        "slow answer", "connection._Within", f"{LIVE}/connection.py",
        "        self._sock.settimeout(min(left_s, self._timeout_s))", "        self._sock.settimeout(None)",
        (
            f"{FAULTY_ANSWER}[late]",
            f"{REAL}::test_answers_that_are_malformed_partial_slow_or_refusals",
        ),
    ),
    Guard(
        "401, 403, 500", "Session.step", f"{STEERING}/session.py",
        "        except (YarnError, OutOfFiles) as error:\n            self.trouble = str(error)",
        "        except ZeroDivisionError as error:\n            self.trouble = str(error)",
        (
            f"{FAULTY_ANSWER}[403]",
            f"{REAL}::test_answers_that_are_malformed_partial_slow_or_refusals",
        ),
    ),
    Guard(
        "a change refused, or made and denied", "Applier._try", f"{APPLYING}/applier.py",
        "        except YarnError as error:\n            return Verdict.FAILED, str(error)",
        "        except ZeroDivisionError as error:\n            return Verdict.FAILED, str(error)",
        (
            f"{FAKE}/test_session.py::test_a_refused_change_is_data_and_the_rest_goes_on",
            f"{REAL}::test_a_change_that_is_made_and_then_denied_is_put_back",
        ),
    ),
    Guard(
        "clock jumps: lease", "Session._now_s", f"{STEERING}/session.py",
        "return self._clock.monotonic()", "return self._clock.time()",
        (
            f"{FAKE}/test_faults.py::test_a_clock_that_jumps_moves_nothing",
            f"{REAL}::test_a_clock_that_jumps_and_a_controller_that_hangs",
        ),
    ),
    Guard(
        "clock jumps: heartbeat", "Desk.beat", f"{STEERING}/desk.py",
        'f"{self.world.clock.monotonic():020.3f}"', 'f"{self.world.clock.time():020.3f}"',
        (
            f"{FAKE}/test_faults.py::test_a_clock_that_jumps_moves_nothing",
            f"{REAL}::test_a_clock_that_jumps_and_a_controller_that_hangs",
        ),
    ),
    Guard(
        "disk full under the baseline", "Desk.save", f"{STEERING}/desk.py",
        "        raise refused(file, \"cannot be written ({}), so heddle changes nothing\", error) from None",
        "        str(error)",
        (
            f"{FAKE}/test_faults.py::test_a_full_disk_under_the_baseline_means_that_nothing_is_changed",
            f"{REAL}::test_a_full_disk",
        ),
    ),
    Guard(
        "disk full under the record", "Journal.flush", f"{OBSERVE}/journal.py",
        "            self._full = True\n            return",
        "            self._full = True\n            self._pending.clear()\n            return",
        ("tests/yarn_observe/test_journal.py::test_a_full_disk_loses_and_doubles_nothing", f"{REAL}::test_a_full_disk"),
    ),
    Guard(
        "a shrink that kills", "RmClient.resize_node", f"{LIVE}/client.py",
        "KEEP_CONTAINERS: Final = -1", "KEEP_CONTAINERS: Final = 0",
        (
            f"{FAKE}/test_session.py::test_the_baseline_is_on_disk_before_the_first_change",
            f"{REAL}::test_kill_9_of_the_controller",
        ),
    ),
    Guard(
        "observer killed", "Observer.__init__", f"{OBSERVE}/observer.py",
        "read_seen(journal.read(), str(journal.path))", "read_seen([], str(journal.path))",
        (
            "tests/yarn_observe/test_observer.py::test_a_restart_neither_loses_nor_doubles_a_job",
            f"{REAL}::test_kill_9_of_the_observer",
        ),
    ),
    Guard(
        "observer killed within a line", "journal._whole_lines", f"{OBSERVE}/journal.py",
        "        if line.endswith(LINE_END):", "        if True:",
        (
            "tests/yarn_observe/test_journal.py::test_it_goes_on_after_a_restart_and_a_torn_line",
            f"{REAL}::test_kill_9_of_the_observer",
        ),
    ),
    Guard(
        "job that came and went while the observer was away", "Observer.poll", f"{OBSERVE}/observer.py",
        "        for life in (*lives.values(), *ended.values()):", "        for life in lives.values():",
        (
            "tests/yarn_observe/test_observer.py::test_an_application_between_two_polls_is_not_missed",
            f"{REAL}::test_kill_9_of_the_observer",
        ),
    ),
    Guard(
        "failover", "Wire.exchange", f"{LIVE}/wire.py",
        "                error = error or elsewhere\n                continue", "                raise",
        (
            "tests/yarn_live/test_client.py::test_failover_when_the_active_one_dies",
            "tests/yarn_real/test_failover_and_tls.py::test_a_failover_with_changes_in_force",
        ),
    ),
    Guard(
        "RM restarted: containers are numbered from 1 again", "rm_answers.is_am", f"{LIVE}/rm_answers.py",
        'am["epoch"] == name["epoch"]', "True",
        ("tests/yarn_observe/test_node_containers.py::test_both_ways_see_the_same_containers",),
    ),
    Guard(
        "changed by somebody else when the controller is dead", "Ownership.__init__", f"{APPLYING}/ownership.py",
        "set(self.found.every_part()) if asked is None else set()", "set(self.found.every_part())",
        (
            f"{FAKE}/test_found_sessions.py::"
            "test_what_a_person_sets_when_the_controller_is_dead_the_watchdog_leaves_alone",
        ),
    ),
    Guard(
        "disk that refuses under the watchdog", "Watchdog._noted", f"{STEERING}/watchdog.py",
        "        except RunRefused as refused:\n            self._say(str(refused))\n            return left",
        "        except ZeroDivisionError as refused:\n            self._say(str(refused))\n            return left",
        (
            f"{FAKE}/test_found_disks.py::"
            "test_a_watchdog_whose_disk_is_full_goes_on_while_a_node_is_away",
        ),
    ),
    Guard(
        "node decommissioned and taken back: levers", "guards.leave_what_was_decommissioned", f"{APPLYING}/guards.py",
        "    wary = seen.ownership.kill_below", "    wary = ()",
        (f"{FAKE}/test_found_sessions.py::{DECOMMISSIONED}",),
    ),
    Guard(
        "node decommissioned and taken back: putting back", "putting_back._would_kill", f"{APPLYING}/putting_back.py",
        "    wary = kill_below & found.sizes.keys()", "    wary = frozenset()",
        (f"{FAKE}/test_found_sessions.py::{DECOMMISSIONED}",),
    ),
    Guard(
        "applications missing from an answer: looking", "take_snapshot", f"{LIVE}/polling.py",
        "still = read_app(answer, client.address)", "still = None",
        (f"{FAKE}/test_applications_end.py::test_an_application_that_the_list_leaves_out_has_not_ended",),
    ),
    Guard(
        "applications missing from an answer: putting back", "RmKnobs._apps", f"{APPLYING}/rm_knobs.py",
        "sorted(names - apps.keys() - self._ended)", "()",
        (f"{FAKE}/test_applications_end.py::test_an_application_that_the_list_leaves_out_gets_its_priority_back",),
    ),
    Guard(
        "applications without number come and go", "Ownership.forget_ended", f"{APPLYING}/ownership.py",
        "        if not gone:\n            return\n        self.found = self.found.without(gone)", "        return",
        (f"{FAKE}/test_applications_end.py::"
         "test_what_is_kept_does_not_grow_with_applications_that_have_ended",),
    ),
    Guard(
        "bridge: a table that is cut off", "TableReader.read", f"{JAVA}/TableReader.java",
        'if (last < 1 || !lines[last].isEmpty() || !lines[last - 1].equals("end " + (last - 1))) {', "if (last < 1) {",
        (f"{CORE}::test_a_table_is_whole_or_refused", f"{BRIDGED}::{ONLY_SIGNED}"),
    ),
    Guard(
        "bridge: a table that is too large", "TableReader.read", f"{JAVA}/TableReader.java",
        "if (body.length > MOST_BYTES) {", "if (false) {",
        (f"{CORE}::test_a_table_that_is_too_large_is_refused",),
    ),
    Guard(
        "bridge: a lease without end", "TableReader.line", f"{JAVA}/TableReader.java",
        "leaseMs = Math.min(LONGEST_LEASE_MS, number(w[3], 1, Long.MAX_VALUE));",
        "leaseMs = number(w[3], 1, Long.MAX_VALUE);",
        (f"{CORE}::test_nobody_is_vetoed_longer_than_the_table_or_the_core_has_patience",),
    ),
    Guard(
        "bridge: a table that vetoes everything", "Table.vetoes", f"{JAVA}/Table.java",
        "\n        && host.unservedMs(request) < patienceMs;", ";",
        (
            f"{CORE}::test_nobody_is_vetoed_longer_than_the_table_or_the_core_has_patience",
            f"{BRIDGED}::test_a_table_that_vetoes_everything_starves_nobody",
        ),
    ),
    Guard(
        "bridge: errors, or slow walks, again and again", "Breaker.note", f"{JAVA}/Breaker.java",
        "if (count + 1 >= MOST && nowNs - oldest <= WITHIN_NS && why.isEmpty()) {", "if (false) {",
        (f"{CORE}::test_too_many_errors_or_slow_walks_within_a_minute_turn_it_off", f"{BRIDGED}::{THROWS}"),
    ),
    Guard(
        "bridge: whatever it throws inside YARN", "BridgeOrdering.getAssignmentIterator", f"{JAVA}/BridgeOrdering.java",
        "stockWalks.increment();\n    } catch (Throwable problem) {",
        "stockWalks.increment();\n    } catch (ArithmeticException problem) {",
        (f"{BRIDGED}::{THROWS}",),
    ),
    Guard(
        "bridge: whatever it throws as an application comes", "BridgeOrdering.came", f"{JAVA}/BridgeOrdering.java",
        "catch (Throwable problem) {\n      missesSome = true;",
        "catch (ArithmeticException problem) {\n      missesSome = true;",
        (f"{BRIDGED}::{THROWS}",),
    ),
    Guard(
        "bridge: controller killed", "Bridge.current", f"{JAVA}/Bridge.java",
        "now == null || System.nanoTime() - now.endsAtNs >= 0 || BREAKER", "now == null || BREAKER",
        (f"{BRIDGED}::test_haste_decides_and_stock_order_returns_after_kill_9",),
    ),
    Guard(
        "bridge: a table by somebody without the secret", "Secret.whyNot", f"{JAVA}/Secret.java",
        'return same ? "" : "the signature is wrong";', 'return "";',
        (f"{BRIDGED}::{ONLY_SIGNED}",),
    ),
    Guard(
        "bridge: a table that was sent before", "Bridge.isNew", f"{JAVA}/Bridge.java",
        "if (version <= lastVersion) {", "if (false) {",
        (f"{BRIDGED}::{ONLY_SIGNED}",),
    ),
    Guard(
        "bridge: a leaf switched where a ResourceManager lacks the jar", "checking.switch_on",
        f"{LIVE}/bridge/checking.py", "    if checked.missing:", "    if False:",
        (f"{OUTSIDE}::test_no_leaf_is_switched_before_every_resourcemanager_has_the_jar", FAILS_OVER),
    ),
    Guard(
        "bridge: a table larger than is read", "BridgeFilter.put", f"{JAVA}/BridgeFilter.java",
        "if (length > TableReader.MOST_BYTES) {", "if (false) {",
        (f"{BRIDGED}::{ONLY_SIGNED}",),
    ),
    Guard(
        "bridge: too many tables", "BridgeFilter.refuseTooMany", f"{JAVA}/BridgeFilter.java",
        "if (PUTS.size() >= MOST_PUTS) {", "if (false) {",
        (f"{BRIDGED}::{ONLY_SIGNED}",),
    ),
    Guard(
        "bridge: a request by somebody who is no admin", "BridgeFilter.answer", f"{JAVA}/BridgeFilter.java",
        "    refuseUnlessAdmin(request);\n", "",
        (
            f"{GUARDED}::test_who_is_no_admin_is_refused_with_the_right_secret_too",
            "tests/yarn_real/test_kerberos.py::test_the_bridge_of_a_secure_cluster_goes_by_tickets",
        ),
    ),
    Guard(
        "bridge: a table for a standby", "BridgeFilter.answer", f"{JAVA}/BridgeFilter.java",
        "    if (!active) {", "    if (false) {",
        (FAILS_OVER,),
    ),
    Guard(
        "bridge: a table for the ResourceManager before", "Bridge.INSTANCE", f"{JAVA}/Bridge.java",
        "UUID.randomUUID().toString();", '"always the same";',
        (FAILS_OVER,),
    ),
    Guard(
        "bridge: an application that is moved", "Table.speaksOf", f"{JAVA}/Table.java",
        "return groups.containsKey(leaf);", "return true;",
        (f"{GUARDED}::test_an_application_that_is_moved_is_bound_by_no_old_table",),
    ),
    Guard(
        "bridge: preemption", "BridgeOrdering.getPreemptionIterator", f"{JAVA}/BridgeOrdering.java",
        "return stock.getPreemptionIterator();", "return Collections.emptyIterator();",
        (f"{GUARDED}::test_preemption_takes_from_who_has_too_much",),
    ),
    Guard(
        "bridge: the jar is deleted while it is in use", "yarn_bridge.remove", "src/heddle/cli/yarn_bridge.py",
        "        if still or checked.leaves:", "        if False:",
        (f"{BRIDGED}::test_leaves_are_switched_live_and_the_jar_is_deleted_last",),
    ),
    Guard(
        "bridge: a table left behind at the end", "Session._end", f"{STEERING}/session.py",
        "        self._drop_table()\n        for _ in range(LAST_TRIES):", "        for _ in range(LAST_TRIES):",
        (f"{OUTSIDE}::test_a_table_each_step_instead_of_priorities_and_none_at_the_end",),
    ),
    Guard(
        "another policy takes over", "HandingOver.begin", f"{APPLYING}/handing_over.py",
        "self.owed = ownership.found.only(ownership.turned)", "pass",
        (f"{FAKE}/test_changing_policy.py::test_what_nobody_speaks_of_any_more_is_put_back",),
    ),
    Guard(
        "another policy takes over, and a node holds more than its own size", "guards._resized",
        f"{APPLYING}/guards.py", "turn if turn.cause is Cause.HANDOVER else judged(turn)", "judged(turn)",
        (f"{FAKE}/test_changing_policy.py::test_a_size_is_handed_back_at_once_and_kills_nothing",),
    ),
    Guard(
        "another policy is found better too late", "LiveChoice._heard", "src/heddle/twin/live_choice.py",
        "if now_ms - asked.at_ms > 1000 * asked.seconds:", "if False:",
        ("tests/twin/test_live_choice.py::test_an_answer_later_than_half_of_the_cycle_changes_nothing",),
    ),
)  # fmt: skip
