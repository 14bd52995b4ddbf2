"""Whether and when a request is sent again. No input or output."""

from __future__ import annotations

import random
import time

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 8.0
LONGEST_RETRY_AFTER_S = 60


def decide_pause(
    method: str, status: int | None, retry_after_s: int | None, retries: int, max_retries: int
) -> float | None:
    """
    Answers the seconds to wait before the request is sent again, or None if it is not. `status` is None if no complete
    answer arrived; `retries` is how often the request was sent again.
    """
    if retries >= max_retries or not _is_repeatable(method, status):
        return None
    if retry_after_s is not None:
        # A little more, so that several processes do not come back at the same moment.
        return retry_after_s + random.uniform(0, FIRST_PAUSE_S) if retry_after_s <= LONGEST_RETRY_AFTER_S else None
    return random.uniform(0, min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2**retries))


def _is_repeatable(method: str, status: int | None) -> bool:
    # The server has not executed these.
    if status in (429, 503):
        return True
    # Every POST has an idempotency key.
    return (status is None or status >= 500) and method != "PATCH"


class Deadline:
    """The end of the time that a whole answer may take."""

    def __init__(self, timeout_s: float) -> None:
        self._end = time.monotonic() + timeout_s

    def is_over(self) -> bool:
        return time.monotonic() > self._end
