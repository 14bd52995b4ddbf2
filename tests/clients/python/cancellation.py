"""Cancels calls while they wait for an answer and while they wait before they are repeated."""

import asyncio
import json
import os
import time

import httpx
from bot_detection import AsyncClient

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


async def main() -> None:
    outcomes: list[object] = []
    async with (
        httpx.AsyncClient(base_url=RELAY_URL) as control,
        AsyncClient(api_key=os.environ["API_KEY"], base_url=RELAY_URL) as client,
    ):
        for fault in ("hang", {"status": 429, "headers": {"retry-after": "30"}}):
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
    print(json.dumps(outcomes))


asyncio.run(main())
