"""All levers by name, and the presets: one line each that names its levers."""

from __future__ import annotations

from typing import Final

from heddle.policy.lever import Lever, Question
from heddle.policy.levers.admission import ADMIT_ALL, AM_SHARE, MAX_RUNNING
from heddle.policy.levers.admission_control import ADMISSION_CONTROL, ADMISSION_CONTROL_SCALED
from heddle.policy.levers.capacity import CAPACITY
from heddle.policy.levers.delay_locality import DELAY_LOCALITY
from heddle.policy.levers.dress import DRESS_POOLS
from heddle.policy.levers.fair import DRF, FAIR
from heddle.policy.levers.fair_am_share import FAIR_AM_SHARE
from heddle.policy.levers.fifo import FIFO
from heddle.policy.levers.haste import HASTE, HASTE_A
from heddle.policy.levers.leaf_order import LEAF_ORDER
from heddle.policy.levers.near_last import NEAR_LAST
from heddle.policy.levers.network_aware import NETWORK_AWARE
from heddle.policy.levers.one_leaf import ONE_LEAF
from heddle.policy.levers.packing import FFD_DP, TETRIS
from heddle.policy.levers.partition import SHARED, SMALL_POOL
from heddle.policy.levers.placement import BEST_FIT, FIRST_FIT, MOST_FREE, RANDOM_NODE
from heddle.policy.levers.predictors import BORG_DEFAULT, MAX_PREDICTOR, N_SIGMA, ORACLE, PERCENTILE
from heddle.policy.levers.random_order import RANDOM_ORDER
from heddle.policy.levers.remaining_work import SJF, SRPT
from heddle.policy.levers.reservation import RESERVATION
from heddle.policy.levers.smallest_first import SMALLEST_FIRST
from heddle.policy.levers.usage_feedback import USAGE_FEEDBACK
from heddle.policy.levers.whole_jobs import WHOLE_JOBS

LEVERS: Final[dict[str, Lever]] = {
    lever.name: lever
    for lever in (
        ONE_LEAF, CAPACITY, FAIR, DRF,
        FIFO, LEAF_ORDER, SJF, SRPT, SMALLEST_FIRST, FFD_DP, TETRIS, HASTE, HASTE_A, RANDOM_ORDER,
        ADMIT_ALL, AM_SHARE, FAIR_AM_SHARE, MAX_RUNNING, ADMISSION_CONTROL, ADMISSION_CONTROL_SCALED, WHOLE_JOBS,
        RESERVATION, USAGE_FEEDBACK, BORG_DEFAULT, N_SIGMA, PERCENTILE, MAX_PREDICTOR, ORACLE,
        SHARED, SMALL_POOL, DRESS_POOLS,
        MOST_FREE, BEST_FIT, FIRST_FIT, RANDOM_NODE, DELAY_LOCALITY, NEAR_LAST, NETWORK_AWARE,
    )
}  # fmt: skip

# What a policy has where its string names nothing.
DEFAULTS: Final[dict[Question, Lever]] = {
    Question.QUEUES: ONE_LEAF,
    Question.ORDERING: FIFO,
    Question.ADMISSION: ADMIT_ALL,
    Question.SIZING: RESERVATION,
    Question.PARTITION: SHARED,
    Question.PLACEMENT: MOST_FREE,
}

# A lever's own name is a preset of that one lever; these name several.
PRESETS: Final[dict[str, tuple[Lever, ...]]] = {
    "capacity": (CAPACITY, LEAF_ORDER, AM_SHARE),
    "fair": (FAIR, LEAF_ORDER.with_values({"default": "fair"}), FAIR_AM_SHARE),
    "drf": (DRF, LEAF_ORDER.with_values({"default": "drf"}), FAIR_AM_SHARE.with_values({"shares": "dominant"})),
    "dress": (DRESS_POOLS, SMALLEST_FIRST.with_values({"demand": "whole"})),
    # What the ablation left of the five papers (docs/weave.md): for whoever does not want to choose.
    "weave": (
        SMALLEST_FIRST,
        ADMISSION_CONTROL.with_values({"backlog": 0.75}),
        USAGE_FEEDBACK.with_values({"young_reports": 2}),
    ),
}
