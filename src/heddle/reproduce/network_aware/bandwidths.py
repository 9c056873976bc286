"""Fig. 3 and Fig. 4: execution time and CPU use over bandwidth, and the bytes that move."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from heddle.reproduce import verdicts
from heddle.reproduce.claims import Claim, Drawing, Table, mean_text
from heddle.reproduce.drawing import Curve, draw_curves
from heddle.reproduce.lab import Findings, Metrics, Part, Scope, Scores, Work, runs_of
from heddle.reproduce.network_aware.ablation import ablation
from heddle.reproduce.network_aware.dags import dags, paper_cluster

OURS = "not in the paper"
MAKESPAN, CPU, MOVED, ACROSS = "makespan_s", "utilisation.vcores.used", "network.moved_gb", "network.cross_rack_gb"


@dataclass(frozen=True)
class Hosts(Scope):
    """What is run."""

    @property
    def bandwidths(self) -> list[int]:
        return self.lab.size(self.known["cluster.bandwidths_mbps"], self.known["cluster.bandwidths_quick_mbps"])

    @property
    def members(self) -> dict[str, tuple[float, int]]:
        """Mean MB on an edge, and tasks that a host runs at a time."""
        return {name: (edge_mb, slots) for name, (edge_mb, slots) in self.known.of("ensemble").items()}

    @property
    def policies(self) -> list[str]:
        return [str(self.known[f"policy.{name}"]) for name in ("paper", "late", "stock", "spread")]

    @property
    def ablations(self) -> list[str]:
        """Run beside them on random DAGs: what shows where an effect comes from."""
        return [str(self.known[f"policy.{name}"]) for name in ("stock_early", "paper_nearness", "late_nearness")]


def bandwidths(hosts: Hosts) -> Part:
    known = hosts.known
    count = hosts.lab.size(known["dags.jobs"], known["dags.jobs_quick"])
    plan: dict[Hashable, Work] = {}
    for member, made in hosts.members.items():
        for mbps in hosts.bandwidths:
            for policy in [*hosts.policies, *hosts.ablations]:
                source, cluster = dags(known, made, count), paper_cluster(known, mbps, made[1])
                plan.update(runs_of((member, mbps), source, cluster, policy, hosts.seeds))
    captions = {
        member: f"{edge_mb:g} MB on an edge" + (f", hosts of {slots} slots" if slots > 1 else "")
        for member, (edge_mb, slots) in hosts.members.items()
    }
    measured = Measurements(hosts, (yield plan), captions, hosts.bandwidths)
    return Findings(
        claims=[
            *measured.against("paper", "stock"),
            *measured.against("late", "stock"),
            *measured.against("late", "spread"),
            *measured.against("paper", "stock_early"),
        ],
        drawings=[
            drawing
            for member, (_, slots) in hosts.members.items()
            if slots == 1  # as the figures of the paper are
            for drawing in (
                measured.figure(member, MAKESPAN, "Fig. 3: execution time", "makespan (s)", 1.0),
                measured.figure(member, CPU, "Fig. 4: CPU use", "CPU used (%)", 100.0),
                measured.figure(member, MOVED, "Bytes over the network", "moved (GB)", 1.0),
            )
        ],
        tables=[
            *(measured.table(member) for member in hosts.members),
            ablation(known, measured.scores, captions, hosts.bandwidths),
        ],
        remarks=["Random DAGs stand in for the authors', which are not published; recorded ones are run beside them."],
    )


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

    def recorded(self, kind: str, note: str) -> list[Claim]:
        """Execution time and bytes of recorded DAGs, which the paper does not have."""
        found = []
        for which, rival in (("paper", "stock"), ("late", "stock"), ("late", "spread")):
            time, _, _, moved = self.against(which, rival)
            for claim in (time, moved):
                statement = f"Recorded {kind}: {claim.statement[0].lower()}{claim.statement[1:]}"
                noted = f"{claim.note} {note}".strip()
                found.append(replace(claim, id=f"{kind}-{claim.id}", statement=statement, paper=OURS, note=noted))
        return found

    def against(self, which: str, rival: str) -> list[Claim]:
        """One of the bindings against stock as the text has it, or against most-free."""
        own, other = str(self.known[f"policy.{which}"]), str(self.known[f"policy.{rival}"])
        says = (lambda text: text) if rival == "stock" else (lambda _: OURS)
        spans, moved, use = (
            {mbps: self.change(mbps, own, other, path) for mbps in self.bandwidths} for path in (MAKESPAN, MOVED, CPU)
        )
        by_bandwidth = "; ".join(
            f"{mbps} Mbit/s {verdicts.over_seeds(values)[0] or 0:+.1f} %" for mbps, values in spans.items()
        )
        low, high = min(self.bandwidths), max(self.bandwidths)
        wider = {
            member: {seed: spans[high][member][seed] - value for seed, value in spans[low][member].items()}
            for member in self.members
        }
        gap, gap_ci = verdicts.over_seeds(wider)
        less_used = {
            mbps: {member: {seed: -value for seed, value in seeds.items()} for member, seeds in values.items()}
            for mbps, values in use.items()
        }
        least = "% change where it gains least"
        name = f"{own} against {other}"
        id_ = f"{which}-{rival}"
        return [
            Claim(
                f"{id_}.1", f"Execution time is shorter at every bandwidth ({name})",
                says("faster at every bandwidth"), least, verdicts.limit_everywhere(spans, 0.0),
                f"{by_bandwidth}. Bound early, as in the text, tasks queue up on some hosts while others stand idle."
                if which == "paper" else f"{by_bandwidth}.",
            ),
            Claim(
                f"{id_}.2", f"The gap is widest when bandwidth is small ({name})", says("widest when small"),
                "% points wider than at the largest", verdicts.shape(gap_ci is not None and gap_ci[0] > 0, gap, gap_ci),
                f"From {low} to {high} Mbit/s.",
            ),
            Claim(
                f"{id_}.3", f"CPU use is higher at every bandwidth ({name})", says("higher CPU use"),
                "% less used where it gains least", verdicts.limit_everywhere(less_used, 0.0),
                "The same work in less time: another view of the execution time.",
            ),
            Claim(
                f"{id_}.4", f"Fewer bytes move at every bandwidth ({name})", OURS, least,
                verdicts.limit_everywhere(moved, 0.0),
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
