"""Named points at which tests kill or stop a real process, to prove that nothing is lost there.

A process is armed by FENCEPOST_FAULT, such as `kill:after_lease` or `stop:after_extraction`, together with
FENCEPOST_FAULT_TOKEN, the path of a file: the first process that reaches the point and can remove the file fires, so
that one file is one fault, also among several processes and after a restart. Unarmed, a point costs one comparison.
"""

import os
import signal
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path


class Fault(StrEnum):
    """Every boundary at which a crash could hurt."""

    BEFORE_ACCEPT_COMMIT = "before_accept_commit"
    AFTER_ACCEPT_COMMIT = "after_accept_commit"
    RELAY_AFTER_CLAIM = "relay_after_claim"
    RELAY_AFTER_PUBLISH = "relay_after_publish"
    RELAY_BEFORE_CONFIRM = "relay_before_confirm"
    AFTER_LEASE = "after_lease"
    AFTER_EXTRACTION = "after_extraction"
    AFTER_RESULT_STORED = "after_result_stored"
    AFTER_PUBLISH_BEFORE_FINISH = "after_publish_before_finish"
    AFTER_FINISH_BEFORE_ACKNOWLEDGE = "after_finish_before_acknowledge"
    SWEEP_BEFORE_RECLAIM_COMMIT = "sweep_before_reclaim_commit"
    SWEEP_AFTER_RECLAIM = "sweep_after_reclaim"
    SWEEP_AFTER_DEAD = "sweep_after_dead"
    SWEEP_AFTER_RESEND = "sweep_after_resend"
    SWEEP_AFTER_PURGE = "sweep_after_purge"
    VERIFY_AFTER_CHUNK = "verify_after_chunk"
    BUILD_AFTER_CREATE = "build_after_create"
    BUILD_AFTER_CREATING = "build_after_creating"
    BUILD_AFTER_DRAINING = "build_after_draining"
    BUILD_AFTER_FILLING = "build_after_filling"
    BUILD_AFTER_VERIFYING = "build_after_verifying"
    BUILD_BEFORE_SWAP_COMMIT = "build_before_swap_commit"
    BUILD_AFTER_SWAPPING = "build_after_swapping"
    BUILD_AFTER_CANCELLING = "build_after_cancelling"
    BUILD_AFTER_DROP = "build_after_drop"
    REFILL_AFTER_LEASE = "refill_after_lease"
    REFILL_AFTER_PUBLISH = "refill_after_publish"
    REFILL_AFTER_FINISH = "refill_after_finish"


@dataclass(frozen=True, slots=True)
class _Armed:
    fault: Fault
    signal: signal.Signals
    token: Path


_armed: _Armed | None = None


def arm(spec: str, token: str) -> None:
    """Arms this process; raises ValueError on an unknown action or point."""
    global _armed  # noqa: PLW0603 - armed once, at start
    action, _, point = spec.partition(":")
    signals = {"kill": signal.SIGKILL, "stop": signal.SIGSTOP}
    if action not in signals:
        msg = f"a fault is kill:POINT or stop:POINT, not {spec!r}"
        raise ValueError(msg)
    _armed = _Armed(Fault(point), signals[action], Path(token))


def reach(fault: Fault) -> None:
    """Fires if this process is armed for this point and the token is still there."""
    if _armed is None or _armed.fault is not fault:
        return
    try:
        _armed.token.unlink()
    except FileNotFoundError:
        return
    os.kill(os.getpid(), _armed.signal)
