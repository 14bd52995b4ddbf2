"""Cancels calls while they wait for an answer and while they wait before they are repeated, and files while they are read."""

import asyncio
import json
import os
import signal
import time

import httpx
from bot_detection import AsyncClient, Client, IncompleteFileError

RELAY_URL = os.environ["RELAY_URL"]


async def cancel_after(client: AsyncClient, seconds: float) -> list[object]:
    task = asyncio.create_task(client.stats.get())
    await asyncio.sleep(seconds)
    begun = time.monotonic()
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return ["cancelled", time.monotonic() - begun < 0.5]
    return ["answered"]


async def cancel_file(client: AsyncClient) -> str:
    """Cancels the wait for the rest of a file, and reads on."""
    export = client.exports.sessions(format="csv")
    await export.__anext__()
    try:
        while True:
            await asyncio.wait_for(export.__anext__(), 0.5)
    except asyncio.TimeoutError:
        pass
    try:
        await export.__anext__()
    except (IncompleteFileError, StopAsyncIteration) as error:
        return type(error).__name__
    return "a part"


class Alarm(Exception):
    pass


def ring(*_: object) -> None:
    raise Alarm


def interrupt_file(client: Client) -> str:
    """The same, where a signal ends the wait."""
    export = client.exports.sessions(format="csv")
    next(export)
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        for _ in export:
            pass
    except Alarm:
        pass
    try:
        next(export)
    except (IncompleteFileError, StopIteration) as error:
        return type(error).__name__
    return "a part"


async def main() -> None:
    outcomes: list[object] = []
    async with (
        httpx.AsyncClient(base_url=RELAY_URL) as control,
        AsyncClient(api_key=os.environ["API_KEY"], base_url=RELAY_URL) as client,
    ):
        for fault in ("hang", {"status": 429, "headers": {"retry-after": "60"}}):
            await control.post("/relay", json=[fault])
            outcomes.append(await cancel_after(client, 0.5))
            await asyncio.sleep(0.2)
            requests = (await control.post("/relay", json=[])).json()
            outcomes.append([request["isEnded"] for request in requests])
        try:
            await control.post("/relay", json=["hang"])
            await asyncio.wait_for(client.stats.get(), 0.3)
        except asyncio.TimeoutError:
            outcomes.append("timed out")
        await control.post("/relay", json=[])
        outcomes.append((await client.stats.get())["totalSessions"])
        await control.post("/relay", json=["stall-after"])
        outcomes.append(await cancel_file(client))
        await control.post("/relay", json=["stall-after"])
    with Client(api_key=os.environ["API_KEY"], base_url=RELAY_URL) as synchronous:
        outcomes.append(interrupt_file(synchronous))
    print(json.dumps(outcomes))


asyncio.run(main())
