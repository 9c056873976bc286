"""What an operator of a stock YARN is told to do, from the effect matrix: in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from heddle.analysis.comparison.effects import Effects
from heddle.analysis.comparison.stock_yarn import Avoided, Candidate, candidates, pairs_to_avoid, recommended
from heddle.report.effects import TOO_FEW_SEEDS, a_run, change_text, change_words, is_same, tells_nothing
from heddle.report.markdown import markdown_table
from heddle.report.wording import write_s


def advice(effects: Effects, queues: Sequence[str]) -> Iterator[str]:
    """A recommendation for each scheduler, its numbers, its costs, and pairs to avoid."""
    yield "## What to use on a stock YARN"
    if not effects.has_intervals:
        yield "Nothing is recommended: one seed gives no intervals, so gains cannot be told from chance."
        return
    yield (
        "Only combinations for which YARN has knobs, simulated as a stock YARN driven by `heddle yarn steer`. A "
        "combination qualifies if it never stalls, makes no more jobs fail, and is nowhere shown to be worse than the "
        "bare queues; the one with the largest gain is recommended. Gain: the change of mean completion, averaged over "
        "the workloads with equal weight, with 0 where no difference is shown. Being the best of several is partly "
        "luck: do not rank gains that are close together."
    )
    for one in queues:
        yield from _for_queues(effects, one)


def _for_queues(effects: Effects, queues: str) -> Iterator[str]:
    found = candidates(effects, queues)
    best = recommended(found)
    yield f"### Your scheduler is `{queues}`"
    if best is None:
        yield f"**No combination qualifies: leave `{queues}` as it is.**"
    else:
        yield _use(best)
        yield _numbers(best, queues)
        yield _costs(best)
    others = [one for one in found if one is not best]
    if others:
        yield "The others:"
        yield markdown_table(
            ("levers", "gain", "drawback", "most crashes"),
            [(_levers(one), _gain(one), _objections(one) or "a smaller gain", _most_crashes(one)) for one in others],
        )
    avoid = pairs_to_avoid(effects, found)
    if avoid:
        yield "Pairs to avoid:\n\n" + "\n".join(f"- {_avoid(one)}" for one in avoid)
    else:
        yield "Pairs to avoid: none of those that YARN has knobs for."


def _avoid(one: Avoided) -> str:
    said = [_objections(one.pair)]
    if one.part is not None:
        said.append(f"`{_levers(one.part)}` alone gains {_gain(one.part)}, the pair {_gain(one.pair)}")
    said += [
        f"{f'stalls in {place.stalled_runs} runs' if place.stalled_runs else change_text(place.change)} "
        f"on {place.workload} against `{place.best_part.partition('+')[2]}` alone"
        for place in one.behind
    ]
    return f"`{_levers(one.pair)}`: {'; '.join(part for part in said if part)}."


def _use(best: Candidate) -> str:
    better = sum(one.gain_pct < 0 for one in best.on)
    unknown = [one.own.scored.workload for one in best.on if tells_nothing(one.own.change)]
    told = f" On {' and '.join(unknown)} there are {TOO_FEW_SEEDS}." if unknown else ""
    return (
        f"**Use `{_levers(best)}`** (`heddle yarn steer --policy {_levers(best)}`, [how](yarn.md)). Gain: "
        f"{_gain(best)}. It is better on {better} of {len(best.on)} workloads and worse on none.{told}"
    )


def _numbers(best: Candidate, queues: str) -> str:
    rows = [
        (
            one.own.scored.workload,
            *("stalled" if cell.mean_s is None else write_s(cell.mean_s) for cell in (one.bare, one.own)),
            "the same" if is_same(one.own.change) else change_words(one.own),
            a_run(one.own.scored.crashes, "crash"),
        )
        for one in best.on
    ]
    return markdown_table(("workload", f"{queues} alone", "with it", "change", "crashes"), rows)


def _costs(best: Candidate) -> str:
    crashing = sorted(
        (one.own.scored for one in best.on if one.own.scored.crashes > one.bare.scored.crashes),
        key=lambda scored: -scored.crashes,
    )
    if not crashing:
        return f"What it costs: no more crashes than with the bare queues on any of the {len(best.on)} workloads."
    where = ", ".join(f"{a_run(scored.crashes, 'crash')} on {scored.workload}" for scored in crashing)
    return f"What it costs: {where}. Crashed tasks run again; no more jobs fail than with the bare queues."


def _objections(one: Candidate) -> str:
    said = []
    for place in one.on:
        if place.objection:
            how = f"{place.objection} on {place.own.scored.workload}"
            said.append(f"{how} ({change_text(place.own.change)})" if place.objection == "worse" else how)
    return "; ".join(said) or ("" if one.gain_pct < 0 else "no gain")


def _most_crashes(one: Candidate) -> str:
    most = max((place.own.scored for place in one.on), key=lambda scored: scored.crashes)
    return f"{a_run(most.crashes, 'crash')} on {most.workload}" if most.crashes else "none"


def _gain(one: Candidate) -> str:
    """To a tenth of a percent, because the first two may be close."""
    return f"{one.gain_pct:+.1f} %".replace("-", "−")


def _levers(one: Candidate) -> str:
    return one.policy.partition("+")[2]
