"""From what levers say to a table for the bridge. A plan has rows of the view, a table the ResourceManager's names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from heddle.model.plan import Plan
from heddle.model.resources import MEMORY, VCORES
from heddle.model.workload import AM
from heddle.policy.form import Form
from heddle.policy.policy import Policy
from heddle.yarn.live.applying.form import form_of
from heddle.yarn.live.bridge.table import RequestRow, Table
from heddle.yarn.live.live_view import LiveView
from heddle.yarn.live.things_seen import AppSeen, Size


def table_of(plan: Plan, live: LiveView, policy: Policy, apps: Mapping[str, AppSeen]) -> Table | None:
    """`apps`: as the ResourceManager reports them, with the ids of their requests. None: nothing to say."""
    form, view = form_of(policy.ordering), live.view
    if form is None or (plan.request_keys is None and plan.vetoes is None):
        return None
    size_of = {name: _size(view.node["allowance"][row]) for name, row in live.node_row.items()}
    counts = view.clock["counts"][0]
    return Table(
        form.kind,
        tuple(_requests(plan, live, form, apps)),
        size_of,
        tuple(live.leaves()),
        fitness=form.kind != "key" and (not form.fitness or bool(policy.ordering.parameter(form.fitness))),
        alignment_milli=plan.alignment_milli,
        counts=(bool(counts[MEMORY]), bool(counts[VCORES])),
        reserves=policy.queues.reserving != "none",
        step_over_vetoed=policy.placement.trait(policy.placement.by_stage),
        plans={
            name: {_size(view.shape["demand"][shape]): count for shape, count in plan.node_plans[row].items()}
            for name, row in live.node_row.items()
            if row in plan.node_plans
        },
    )


def _requests(plan: Plan, live: LiveView, form: Form, apps: Mapping[str, AppSeen]) -> Iterator[RequestRow]:
    view, terms = live.view, plan.request_terms or {}
    # Vetoes alone leave the order to stages' numbers, which is the order of submission.
    keys = plan.request_keys if plan.request_keys is not None else dict.fromkeys(live.waiting_stages().tolist(), 0)
    app_of = {job: app for app, job in live.job_row.items()}
    leaf_of = {row: name for name, row in live.leaves().items()}
    node_of = {row: name for name, row in live.node_row.items()}
    vetoed: dict[int, set[str]] = {}
    for stage, node in plan.vetoes or {}:
        vetoed.setdefault(stage, set()).add(node_of[node])
    for stage in sorted(keys):
        job = int(view.stage_spec["job"][stage])
        app = apps.get(app_of.get(job, ""))
        if app is None:
            continue
        size, key = _size(view.shape["demand"][view.stage_spec["shape"][stage]]), keys[stage]
        ahead = form.ahead_below is not None and key < form.ahead_below
        for ask in app.asks:
            of_am = view.stage_spec["kind"][stage] == AM
            if of_am != (app.has_am and not app.running) or (not of_am and ask.priority != live.priority_of(stage)):
                continue
            if ask.size == size:
                leaf, refused = leaf_of[int(view.job["queue"][job])], frozenset(vetoed.get(stage, ()))
                for allocation in ask.allocations:
                    yield RequestRow(
                        app.id, ask.priority, allocation, leaf, size, key, terms.get(stage, 0), ahead, refused
                    )


def _size(amounts: object) -> Size:
    memory, vcores = amounts.tolist()[:2]  # type: ignore[attr-defined]
    return memory, vcores
