"""Execution time, CPU use and bytes over bandwidth, and what they say of one policy against another."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Drawing, Source, Table, mean_text
from heddle.reproduce.drawing import Curve, draw_curves
from heddle.reproduce.lab import Metrics, Scores
from heddle.reproduce.network_aware.hosts import Hosts
from heddle.reproduce.network_aware.reasons import same_work, what_there_is_to_gain, where_slower

OURS = "not in the paper"
MAKESPAN, CPU, MOVED, ACROSS = "makespan_s", "utilisation.vcores.used", "network.moved_gb", "network.cross_rack_gb"
FETCHING, LOCAL = "network.fetching_s", "network.local_gb"


class Measurements:
    """Runs of an ensemble's members, each with its caption, over bandwidths; and what they say."""

    def __init__(
        self,
        hosts: Hosts,
        runs: Mapping[Hashable, Metrics],
        members: Mapping[str, str],
        bandwidths: Sequence[int],
    ) -> None:
        self.known, self.policies, self.scores = hosts.known, hosts.policies, Scores(runs)
        self.members, self.bandwidths = members, bandwidths

    def change(self, mbps: int, policy: str, other: str, path: str) -> dict[str, dict[int, float]]:
        return {
            member: verdicts.change_pct(
                self.scores.metric((member, mbps), other, path), self.scores.metric((member, mbps), policy, path)
            )
            for member in self.members
        }

    def mean(self, mbps: int, policy: str, path: str) -> float:
        return verdicts.over_seeds({one: self.scores.metric((one, mbps), policy, path) for one in self.members})[0] or 0

    def to_gain(self, own: str, other: str) -> str:
        """What a placement could win at all: fetching under the other, and bytes that need not move."""
        hosts = self.known["cluster.hosts"]
        fetching = {
            mbps: self.mean(mbps, other, FETCHING) / max(1.0, hosts * self.mean(mbps, other, MAKESPAN))
            for mbps in self.bandwidths
        }
        local = {}
        for policy in (own, other):
            here, moved = (sum(self.mean(mbps, policy, path) for mbps in self.bandwidths) for path in (LOCAL, MOVED))
            local[policy] = here / max(1e-9, here + moved)
        return what_there_is_to_gain(fetching, local)

    def recorded(self, kind: str) -> list[Claim]:
        """Execution time and bytes of recorded DAGs, which the paper does not have."""
        found = []
        for which, rival in (("paper", "stock"), ("late", "stock"), ("late", "spread")):
            time, _, _, moved = self.against(which, rival)
            note = self.to_gain(str(self.known[f"policy.{which}"]), str(self.known[f"policy.{rival}"]))
            for claim in (time, moved):
                statement = f"Recorded {kind}: {claim.statement[0].lower()}{claim.statement[1:]}"
                noted = f"{claim.note} {note}".strip()
                id_ = f"{kind}-{claim.id}"
                found.append(replace(claim, id=id_, statement=statement, paper=OURS, note=noted, source=Source.OURS))
        return found

    def against(self, which: str, rival: str) -> list[Claim]:
        """One of the bindings against stock as the text has it, or against most-free."""
        own, other = str(self.known[f"policy.{which}"]), str(self.known[f"policy.{rival}"])
        says = (lambda text: text) if rival == "stock" else (lambda _: OURS)
        source = Source.PAPER if (which, rival) == ("paper", "stock") else Source.OURS
        spans, moved, use, fetching = (
            {mbps: self.change(mbps, own, other, path) for mbps in self.bandwidths}
            for path in (MAKESPAN, MOVED, CPU, FETCHING)
        )
        by_bandwidth = "; ".join(
            f"{mbps} Mbit/s {verdicts.over_seeds(values)[0] or 0:+.1f} %" for mbps, values in spans.items()
        )
        low, *larger = sorted(self.bandwidths)
        leads = {f"ahead at {mbps}": negative(values) for mbps, values in spans.items()}
        leads |= {f"wider than at {mbps}": minus(spans[mbps], spans[low]) for mbps in larger}
        less_used = {mbps: negative(values) for mbps, values in use.items()}
        least = "% change where it gains least"
        name = f"{own} against {other}"
        id_ = f"{which}-{rival}"
        return [
            Claim(
                f"{id_}.1", f"Execution time is shorter at every bandwidth ({name})",
                says("faster at every bandwidth"), least, verdicts.limit_everywhere(spans, 0.0),
                f"{by_bandwidth}. {where_slower(spans, fetching)}".strip(), source,
            ),
            Claim(
                f"{id_}.2", f"It is ahead at every bandwidth, and by most when bandwidth is small ({name})",
                says("better throughout, most when small"), "% points, the least of these leads",
                verdicts.order(leads), f"{low} Mbit/s against {', '.join(str(mbps) for mbps in larger)}.", source,
            ),
            Claim(
                f"{id_}.3", f"CPU use is higher at every bandwidth ({name})", says("higher CPU use"),
                "% less used where it gains least", verdicts.limit_everywhere(less_used, 0.0),
                same_work(spans, use), source,
            ),
            Claim(
                f"{id_}.4", f"Fewer bytes move at every bandwidth ({name})", OURS, least,
                verdicts.limit_everywhere(moved, 0.0), source=Source.OURS,
            ),
        ]  # fmt: skip

    def figure(self, member: str, path: str, title: str, label: str, factor: float) -> Drawing:
        curves = [
            Curve.of_seeds(
                policy,
                {
                    float(mbps): {
                        seed: factor * value for seed, value in self.scores.metric((member, mbps), policy, path).items()
                    }
                    for mbps in self.bandwidths
                },
            )
            for policy in self.policies
        ]
        caption = f"Mean over seeds with its 95 % interval; {self.members[member]}."
        return draw_curves(f"{title}: {member}", "bandwidth (Mbit/s)", label, curves, caption, log_x=True)

    def table(self, member: str) -> Table:
        rows = []
        for mbps in self.bandwidths:
            for policy in self.policies:
                name = (member, mbps)
                use = {seed: 100 * value for seed, value in self.scores.metric(name, policy, CPU).items()}
                cells = [mean_text(self.scores.metric(name, policy, path)) for path in (MAKESPAN, MOVED, ACROSS)]
                rows.append((f"{mbps} Mbit/s", policy, cells[0], mean_text(use), *cells[1:]))
        heads = ("bandwidth", "policy", "makespan (s)", "CPU used (%)", "moved (GB)", "across racks (GB)")
        return Table(f"All policies: {self.members[member]}", heads, tuple(rows))


def negative(values: verdicts.Ensemble) -> dict[str, dict[int, float]]:
    return {member: {seed: -value for seed, value in seeds.items()} for member, seeds in values.items()}


def minus(values: verdicts.Ensemble, others: verdicts.Ensemble) -> dict[str, dict[int, float]]:
    """The difference on each seed that both have."""
    return {
        member: {seed: value - others[member][seed] for seed, value in seeds.items() if seed in others[member]}
        for member, seeds in values.items()
    }
