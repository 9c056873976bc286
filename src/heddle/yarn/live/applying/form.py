"""Whether the bridge can weigh requests as an ordering does."""

from __future__ import annotations

from heddle.policy.declaration import is_ours
from heddle.policy.form import BY_KEY, Form
from heddle.policy.lever import Ordering


def form_of(ordering: Ordering) -> Form | None:
    """How the bridge weighs the requests of this ordering; None: it cannot."""
    if ordering.fit is None:
        return BY_KEY
    own_code = [hook for hook in (ordering.fit, ordering.combine) if hook is not None and not is_ours(hook)]
    return None if own_code else ordering.form
