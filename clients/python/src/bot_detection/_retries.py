"""Whether and when a request is sent again. No input or output."""

from __future__ import annotations

import random
import time

FIRST_PAUSE_S = 0.5
# So the longest pause is 8 seconds. About a thousand doublings are more than a float can hold.
MOST_DOUBLINGS = 4
LONGEST_RETRY_AFTER_S = 60
# Sockets take no longer one: milliseconds in 31 bits.
LONGEST_TIMEOUT_S = (2**31 - 1) / 1000


def check_timeout(timeout_s: float) -> float:
    """Answers a timeout that sockets take. Raises ValueError for one that no answer could keep."""
    if not (isinstance(timeout_s, (int, float)) and timeout_s > 0):
        raise ValueError("timeout must be a number of seconds above 0")
    return min(timeout_s, LONGEST_TIMEOUT_S)


def check_retries(max_retries: int) -> int:
    """Answers how often a request may be repeated. No count of repeats reaches NaN."""
    if not (isinstance(max_retries, int) and max_retries >= 0):
        raise ValueError("max_retries must be a whole number, 0 or more")
    return max_retries


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
    return random.uniform(0, FIRST_PAUSE_S * 2 ** min(retries, MOST_DOUBLINGS))


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
