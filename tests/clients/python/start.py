"""Runs a function or a coroutine function, and prints what it answers."""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any


def start(scenario: Callable[[], Any], write: Callable[[Any], str]) -> None:
    result = scenario()
    print(write(asyncio.run(result) if inspect.iscoroutine(result) else result), flush=True)
