"""Reads the visit and takes its steps. A driver says how each deed is done."""
import asyncio
import json
import sys
import time

with open(sys.argv[1], encoding="utf-8") as file:
    visit = json.load(file)

ARGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--window-size=1280,900"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


def arguments(step):
    """What a deed needs, in order."""
    return [value for key, value in step.items() if key != "do"]


def take_steps(**hands):
    for step in visit["steps"]:
        if step["do"] == "read":
            time.sleep(step["forMs"] / 1000)
        else:
            hands[step["do"]](*arguments(step))


async def take_steps_async(**hands):
    for step in visit["steps"]:
        if step["do"] == "read":
            await asyncio.sleep(step["forMs"] / 1000)
        else:
            await hands[step["do"]](*arguments(step))
