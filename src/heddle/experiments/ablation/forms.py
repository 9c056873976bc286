"""Other forms of the ablation's parts: each writes one part of a policy another way.

A part that the ablation leaves out gets a second chance in its other form; a part that it takes may turn out better in
another. Which are listed, and which spares an operator something, was settled after a look at three seeds of the
choosing half.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from heddle.experiments.ablation.factors import (
    ADMISSION,
    PLACEMENT,
    SHARE,
    SIZING,
    URGENCY,
    WRITTEN,
    Combination,
    Factor,
    policy_of,
)


@dataclass(frozen=True)
class Form:
    """`part` of a policy is written as `text`: another form of this factor. `spares`: what a cluster then need not have
    for it; such a form is taken unless it is shown to be worse."""

    name: str
    factor: Factor
    part: str
    text: str
    about: str
    spares: str = ""


FORMS: Final = (
    Form("unbounded", ADMISSION, "admission", "admission-control", "admission control as in paper 3: no backlog"),
    Form(
        "usable", ADMISSION, "admission", "admission-control(backlog=0.75,capacity=usable)",
        "admission control that counts what tasks can really get of each node",
    ),
    Form("young-0", SIZING, "sizing", "usage-feedback", "usage feedback as in paper 1: new containers fade at once"),
    Form("young-5", SIZING, "sizing", "usage-feedback(young_reports=5)", "new containers in full for five reports"),
    Form(
        "budget", SIZING, "sizing", "usage-feedback(young_reports=2,target_failures=0.1)",
        "usage feedback with a budget of failures: damping by what was seen to fail",
    ),
    Form("order-only", SHARE, "pools", "", "small jobs first, without a share of their own", "pool leaves"),
    Form("share-only", SHARE, "order", "", "a share for small jobs, and Capacity's order inside it"),
    Form("gated", URGENCY, "haste", "hold_reduces=true", "urgency with reduces held back while their maps wait"),
    Form("nearness", PLACEMENT, "placement", "network-aware(by=nearness)", "near the data, whatever the links carry"),
)  # fmt: skip


@dataclass(frozen=True)
class Woven:
    """A combination with the forms of its parts."""

    chosen: Combination
    forms: tuple[Form, ...] = ()

    @property
    def policy(self) -> str:
        return policy_of(self.chosen, {**WRITTEN, **{form.part: form.text for form in self.forms}})

    def with_form(self, form: Form) -> Woven:
        others = tuple(other for other in self.forms if other.factor != form.factor)
        return Woven(self.chosen | {form.factor.name}, (*others, form))


def neighbours(woven: Woven, forms: Iterable[Form] = FORMS) -> dict[str, Woven]:
    """What differs from it by one form, by the form's name."""
    return {form.name: woven.with_form(form) for form in forms if form not in woven.forms}
