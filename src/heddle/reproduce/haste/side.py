"""Side results of the paper that tell reconstructions apart: who beats whom, where, and idle reduces."""

from __future__ import annotations

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, mean_text
from heddle.reproduce.haste.measures import allocated, idle, makespan
from heddle.reproduce.haste.reasons import heads_that_block
from heddle.reproduce.haste.scored import Scored
from heddle.reproduce.haste.settings import ARRIVALS, CONTROL, ITERATIVE, MIXED, SAME, SMALL, gap_text


def side_results(scored: Scored) -> list[Claim]:
    """What tells reconstructions apart: who beats whom among the baselines, and idle reduces."""
    claims = []
    for number, setting in enumerate((SAME, MIXED), 1):
        rivals = {policy: scored.ratio(setting, policy, makespan) for policy in ("fair", "drf")}
        claims.append(
            Claim(
                f"side.{number}",
                f"In a batch FIFO beats Fair and DRF ({setting})",
                "FIFO ahead: reduces of many jobs hold containers there",
                "% ahead of the nearer",
                verdicts.best(scored.ratio(setting, "fifo", makespan), rivals),
                f"Idle reduces hold {scored.mean_pct(setting, 'fair', idle):.0f} % of what they hold under FIFO with "
                f"Fair, {scored.mean_pct(setting, 'drf', idle):.0f} % with DRF. "
                + heads_that_block(scored.mean_pct(setting, "fifo(blocking=0)", makespan)),
            )
        )
    fifo, packed = (
        {of: scored.ratio(SAME, policy, of) for of in (makespan, allocated)} for policy in ("fifo", "ffd-dp")
    )
    claims.append(
        Claim(
            "side.3",
            f"FFD-DP loses to FIFO although it allocates more ({SAME})",
            "loses, allocates more",
            "%, the lesser of FIFO's lead and of what FFD-DP allocates more",
            verdicts.order(
                {
                    "FIFO is ahead": {"": verdicts.sooner_pct(packed[makespan], fifo[makespan])},
                    "FFD-DP allocates more": {"": verdicts.change_pct(fifo[allocated], packed[allocated])},
                }
            ),
            f"FFD-DP needs {scored.mean_pct(SAME, 'ffd-dp', makespan):.0f} % of FIFO's makespan, allocates "
            f"{scored.mean_pct(SAME, 'ffd-dp', allocated):.0f} % and has idle reduces hold "
            f"{scored.mean_pct(SAME, 'ffd-dp', idle):.0f} %. {scored.reduces(SAME)}",
        )
    )
    leads, text = {}, []
    for policy in ("fair", "capacity"):
        small, usual = (scored.ratio(setting, policy, makespan) for setting in (SMALL, CONTROL))
        there = {seed: 100 * (1 - value) for seed, value in small.items()}
        gain = {seed: 100 * (usual[seed] - small[seed]) for seed in small if seed in usual}
        leads[f"{policy} there"], leads[f"{policy} against usual nodes"] = {"": there}, {"": gain}
        text.append(f"{policy} {mean_text(there)} ahead of FIFO there, {mean_text(gain)} more than on usual nodes")
    claims.append(
        Claim(
            "side.4",
            "Fair and Capacity are ahead of FIFO on small nodes, by more than on usual ones",
            "better than FIFO there",
            "% of FIFO's makespan, the least of these leads",
            verdicts.order(leads),
            "; ".join(text) + ". Against the same jobs on as much in usual nodes.",
        )
    )
    less_idle = {
        setting: {seed: 100 * (1 - value) for seed, value in scored.ratio(setting, scored.haste, idle).items()}
        for setting in (SAME, MIXED)
    }
    claims.append(
        Claim(
            "side.5",
            f"Under {scored.haste} reduces hold less memory idle than under {scored.reference}",
            "urgency attacks that waste; no number",
            "% less",
            verdicts.not_judged(less_idle),
            "; ".join(f"{setting} {mean_text(seeds)}" for setting, seeds in less_idle.items())
            + ". Taken apart: "
            + "; ".join(
                f"{policy} holds {scored.mean_pct(MIXED, policy, idle):.0f} % of FIFO's in {MIXED}"
                for policy in scored.ablations
            )
            + ".",
        )
    )
    for id_, setting, where in (
        ("side.6", ITERATIVE, "when iterative jobs are mixed in"),
        ("side.9", SMALL, "on small nodes"),
    ):
        ahead = scored.ratio(setting, scored.haste_a, makespan)
        claims.append(
            Claim(
                id_,
                f"{scored.haste_a} is ahead of {scored.haste} {where}",
                "ahead",
                "% ahead",
                verdicts.best(ahead, {scored.haste: scored.ratio(setting, scored.haste, makespan)}),
            )
        )
    return [*claims, _packed_on_mixed(scored), _lead_shrinks(scored), _gains_fade(scored)]


def _packed_on_mixed(scored: Scored) -> Claim:
    packed = scored.ratio(MIXED, "ffd-dp", makespan)
    return Claim(
        "side.7",
        f"FFD-DP is ahead of FIFO ({MIXED})",
        "ahead; no number left",
        "% ahead",
        verdicts.best(packed, {"fifo": scored.ratio(MIXED, "fifo", makespan)}),
        f"It allocates {scored.mean_pct(MIXED, 'ffd-dp', allocated):.0f} % of what FIFO does, and its idle reduces "
        f"hold {scored.mean_pct(MIXED, 'ffd-dp', idle):.0f} %.",
    )


def _lead_shrinks(scored: Scored) -> Claim:
    """In points of FIFO's makespan, over FIFO and over FFD-DP."""

    def lead(setting: str, over: str) -> dict[int, float]:
        own, other = scored.ratio(setting, scored.haste, makespan), scored.ratio(setting, over, makespan)
        return {seed: 100 * (other[seed] - own[seed]) for seed in own if seed in other}

    leads = {over: {where: lead(where, over) for where in (MIXED, ITERATIVE)} for over in ("fifo", "ffd-dp")}
    shrinks = {
        over: {seed: by[MIXED][seed] - by[ITERATIVE][seed] for seed in by[MIXED] if seed in by[ITERATIVE]}
        for over, by in leads.items()
    }
    text = "; ".join(
        f"over {over} {mean_text(by[MIXED])} with {MIXED}, {mean_text(by[ITERATIVE])} {ITERATIVE}"
        for over, by in leads.items()
    )
    return Claim(
        "side.8",
        f"The lead of {scored.haste} over FIFO and FFD-DP shrinks when iterative jobs are mixed in",
        "diminishes",
        "% of FIFO's makespan, the lesser decrease",
        verdicts.order({over: {"": seeds} for over, seeds in shrinks.items()}),
        f"Lead in points of FIFO's makespan: {text}.",
    )


def _gains_fade(scored: Scored) -> Claim:
    gaps = sorted(scored.known["settings.arrivals_mean_s"])
    gains = {
        gap: {
            seed: 100 * (1 - value)
            for seed, value in scored.ratio(ARRIVALS, scored.haste, makespan, gap_text(gap)).items()
        }
        for gap in gaps
    }
    often, rarely = gains[gaps[0]], gains[gaps[-1]]
    fades = {seed: often[seed] - rarely[seed] for seed in often if seed in rarely}
    return Claim(
        "side.10",
        f"The gain of {scored.haste} over FIFO fades as jobs come further apart",
        "all schedulers come out alike at long intervals",
        "% of FIFO's makespan less",
        verdicts.order({"": {"": fades}}),
        "; ".join(f"{gap_text(gap)} {mean_text(seeds)} % ahead" for gap, seeds in gains.items()) + ".",
    )
