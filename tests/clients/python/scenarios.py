"""What the tests let a client do. unasync makes the synchronous program of it.

Runs the scenario that each line of its input names, and prints what it answers as a line of JSON.
"""

import inspect
import io
import json
import logging
import os
import pickle
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import httpx
from bot_detection import (
    ApiError,
    AsyncClient,
    BotDetectionError,
    ConnectionFailedError,
    IncompleteFileError,
    RequestTimeoutError,
    SecretLostError,
    UnexpectedAnswerError,
    WebhookVerificationError,
)
from start import start

BASE_URL, RELAY_URL = os.environ["BASE_URL"], os.environ["RELAY_URL"]
KEY, RECEIVER_URL = os.environ["API_KEY"], os.environ["RECEIVER_URL"]


def connect(base_url: str = RELAY_URL, timeout: float = 30, max_retries: int = 3) -> AsyncClient:
    return AsyncClient(api_key=KEY, base_url=base_url, timeout=timeout, max_retries=max_retries)


# One for all plans: each new client reads the certificates of all authorities.
RELAY = httpx.Client(verify=False, headers={"connection": "close"})


def plan(*faults: object) -> list[dict[str, Any]]:
    """Tells the relay what to do with the next requests, and answers what it got since the last plan."""
    log: list[dict[str, Any]] = RELAY.post(f"{RELAY_URL}/relay", json=faults).raise_for_status().json()
    return log


def read_log() -> list[dict[str, Any]]:
    """Answers what the relay got since the last plan, which ends."""
    return plan()


def failure(status: int, headers: dict[str, str] | None = None) -> dict[str, Any]:
    """An error in place of the server's answer."""
    body = '{"error":{"code":"INJECTED","message":"m","details":null}}'
    return {"status": status, "headers": headers or {}, "body": body}


HTML_PAGE = {"status": 200, "headers": {"content-type": "text/html"}, "body": "<html></html>"}


def read_key(request: dict[str, Any]) -> str | None:
    key: str | None = request["headers"].get("idempotency-key")
    return key


def describe(error: BaseException) -> list[Any]:
    names = ("status", "code", "field", "retry_after_seconds")
    return [type(error).__name__, *(getattr(error, name) for name in names if hasattr(error, name))]


async def operations() -> object:
    """Calls every method, and answers what the relay got of each."""
    sent = {}
    async with connect(max_retries=0) as client:
        for resource_name, resource in list(vars(client).items())[1:]:
            for name, method in inspect.getmembers(resource, inspect.ismethod):
                if name.startswith("_"):
                    continue
                parameters = inspect.signature(method).parameters.values()
                ids = ["x" for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
                plan(failure(404))
                try:
                    result = method(*ids)
                    if inspect.isawaitable(result):
                        await result
                    async for _ in result:
                        break
                except ApiError:
                    [entry] = read_log()
                    sent[f"{resource_name}.{name}"] = [f"{entry['method']} {entry['path'].split('?')[0]}", read_key(entry)]
    return sent


async def walk() -> object:
    async with connect(BASE_URL) as client:
        ids = [session["id"] async for session in client.sessions.list(page_size=100)]
        sizes, cursors = [], []
        async for page in client.sessions.list(page_size=100).pages():
            sizes.append(len(page.data))
            cursors.append(page.next_cursor)
        rest = [session["id"] async for session in client.sessions.list(page_size=100, cursor=cursors[6])]
        bots = [session["riskLevel"] async for session in client.sessions.list(risk_level="bot", min_bot_score=0.9)]
        oldest = [page async for page in client.webhook_events.list(sort="oldest").pages()]
        return {
            "ids": [len(ids), len(set(ids))],
            "pages": [sizes, cursors[-1]],
            "rest": rest == ids[700:],
            "bots": [len(bots) > 0, sorted({str(one) for one in bots})],
            "poll": [oldest[-1].has_more, isinstance(oldest[-1].next_cursor, str)],
        }


async def empty_pages() -> object:
    async with connect() as client:
        async for page in client.sessions.list(page_size=100).pages():
            break
        pagination = {"hasMore": True, "limit": 100, "nextCursor": page.next_cursor}
        plan({"status": 200, "body": json.dumps({"data": [], "pagination": pagination})})
        events = [event async for event in client.sessions.list(page_size=100)]
        return [len(events), len(read_log())]


async def page_that_leads_to_itself() -> object:
    body = json.dumps({"data": [], "pagination": {"hasMore": True, "limit": 1, "nextCursor": "c"}})
    async with connect() as client:
        plan(*[{"status": 200, "body": body}] * 3)
        try:
            return [user async for user in client.users.list()]
        except BotDetectionError as error:
            return [str(error), len(read_log())]


async def label() -> object:
    async with connect(BASE_URL) as client:
        label = await client.sessions.label("ses-1", verdict="bot", confidence="high", notes="from Python")
        session = await client.sessions.get("ses-1")
        return [label["verdict"], session["label"] and session["label"]["notes"]]


async def life_cycle() -> object:
    async with connect(BASE_URL) as client:
        created = await client.webhooks.create(
            url=RECEIVER_URL, event_type="BotDetected", threshold={"field": "botScore", "operator": "gte", "value": 0.5}
        )
        webhook_id = created["id"]
        changed = await client.webhooks.update(webhook_id, name="renamed")
        without = await client.webhooks.update(webhook_id, threshold=None)
        first = await client.webhooks.test(webhook_id)
        rotated = await client.webhooks.rotate_secret(webhook_id, grace_period_seconds=60)
        second = await client.webhooks.test(webhook_id)
        listed = [webhook["id"] for webhook in await client.webhooks.list()]
        deliveries = [one["test"] async for one in client.webhooks.list_deliveries(webhook_id)]
        await client.webhooks.delete(webhook_id)
        try:
            await client.webhooks.get(webhook_id)
        except ApiError as error:
            gone = describe(error)
        return {
            "changed": [changed["name"], changed["threshold"] is not None, without["threshold"]],
            "tests": [first["status"], second["status"]],
            "secrets": [created["secret"], rotated["secret"]],
            "listed": webhook_id in listed,
            "deliveries": deliveries,
            "gone": gone,
        }


async def other_reads() -> object:
    async with connect(BASE_URL) as client, connect() as relayed:
        health = await client.health.get()
        odd = []
        for odd_id in ("a/b ?#%", "...", "ö"):
            plan()
            try:
                await relayed.sessions.get(odd_id)
            except ApiError as error:
                odd.append([error.code, read_log()[0]["path"]])
        thresholds = await client.risk_thresholds.update(medium_at=40, bot_at=70)
        device = await client.users.confirm_device("user-00000", "device-00000")
        usage = await client.usage.get(start_date="2026-01-01")
        return [health["status"], odd, thresholds, device["userId"], usage["totalRequests"] > 0]


async def exports() -> object:
    async with connect(BASE_URL) as client:
        rows = [row["id"] async for row in client.exports.sessions(device_type="mobile")]
        listed = [session["id"] async for session in client.sessions.list(device_type="mobile", page_size=100)]
        csv = b""
        async for chunk in client.exports.users(format="csv"):
            csv += chunk
        async with client.exports.sessions() as export:
            async for first in export:
                break
        again = [row async for row in export]
    async with connect() as client:
        plan("stall-after")
        async with client.exports.sessions() as left:
            async for _ in left:
                break
        time.sleep(0.2)
        again.append(read_log()[0]["isEnded"])
        broken = []
        ndjson = {"content-type": "application/x-ndjson; charset=utf-8"}
        in_line = {"status": 200, "headers": ndjson, "body": '{"id":"ses-1"}\n{"id'}
        foreign = {"status": 200, "headers": ndjson, "body": '{"id":"ses-1"}\n<p>Bad gateway</p>\n'}
        for fault in ("cut-after", in_line, foreign):
            plan(fault)
            broken.append([*await read_twice(client.exports.sessions()), len(read_log())])
        # As from a proxy that does not say where an answer ends.
        cut = {"status": 200, "headers": {"content-type": "text/csv; charset=utf-8"}, "body": "id,name\r\n1,Ad"}
        for fault in ("cut-after", cut):
            plan(fault)
            broken.append([*await read_twice(client.exports.sessions(format="csv")), len(read_log())])
    return [rows == listed, len(rows) > 0, csv.startswith(b"\xef\xbb\xbfid,name"), first["id"], again, broken]


async def read_twice(export: Any) -> list[Any]:
    """Reads a file, and reads on after the error. Answers whether there was a part, and how each read ended."""
    parts, ends = 0, []
    for _ in range(2):
        try:
            async for _ in export:
                parts += 1
            ends.append("whole")
        except IncompleteFileError as error:
            ends.append(str(error))
    return [parts > 0, *ends]


async def too_many_requests() -> object:
    async with connect() as client:
        plan(failure(429, {"retry-after": "1"}), failure(503), failure(500))
        begun = time.monotonic()
        await client.sessions.get("ses-1")
        waited_s = time.monotonic() - begun
        log = read_log()
        plan(failure(429, {"retry-after": "61"}))
        try:
            await client.sessions.get("ses-1")
        except ApiError as error:
            too_long = [*describe(error), len(read_log())]
        plan(*[failure(503)] * 3)
        try:
            await connect(max_retries=2).stats.get()
        except ApiError as error:
            given_up = [*describe(error), len(read_log())]
        unsure = []
        webhook = await client.webhooks.create(url=RECEIVER_URL, event_type="BotDetected", enabled=False)
        for fault, attempt in (
            ("cut-after", lambda: client.stats.get()),
            ("cut-after", lambda: client.sessions.label("ses-2", verdict="human")),
            (failure(503), lambda: client.webhooks.update(webhook["id"], name="n")),
        ):
            plan(fault, failure(429, {"retry-after": "61"}))
            try:
                await attempt()
            except (ApiError, ConnectionFailedError) as error:
                unsure.append([type(error).__name__, len(read_log())])
        await client.webhooks.delete(webhook["id"])
        return [len(log), waited_s >= 1, log[1]["at"] - log[0]["at"] >= 1000, too_long, given_up, unsure]


async def repeats() -> object:
    """How often each method is sent if the first answer gets lost, and after other answers."""
    counts: dict[str, list[int]] = {}
    async with connect() as client:
        webhook = await client.webhooks.create(url=RECEIVER_URL, event_type="BotDetected", enabled=False)
        for fault in ("cut-before", "cut-after", failure(500), failure(503), failure(429)):
            sent = []
            for attempt in (
                lambda: client.webhooks.get(webhook["id"]),
                lambda: client.risk_thresholds.update(medium_at=40, bot_at=70),
                lambda: client.sessions.label("ses-2", verdict="human"),
                lambda: client.webhooks.update(webhook["id"], name="n"),
            ):
                plan(fault)
                try:
                    await attempt()
                except (ApiError, ConnectionFailedError):
                    pass
                sent.append(len(read_log()))
            counts[fault if isinstance(fault, str) else str(fault["status"])] = sent
        never = []
        for status in (400, 401, 402, 403, 404):
            plan(failure(status))
            try:
                await client.stats.get()
            except ApiError as error:
                never.append([type(error).__name__, len(read_log())])
        plan("cut-after")
        await client.webhooks.delete(webhook["id"])
        deleted = len(read_log())
        missed = []
        nobody: tuple[tuple[tuple[object, ...], Callable[[], Any]], ...] = (
            ((), lambda: client.webhooks.delete(webhook["id"])),
            ((failure(429, {"retry-after": "0"}),), lambda: client.webhooks.delete(webhook["id"])),
            # This one may have removed it.
            ((failure(500),), lambda: client.webhooks.delete(webhook["id"])),
            (("cut-before", failure(404)), lambda: client.users.erase("nobody")),
        )
        for faults, remove in nobody:
            plan(*faults)
            try:
                await remove()
            except ApiError as error:
                missed.append([type(error).__name__, len(read_log())])
        return {"counts": counts, "never": never, "deleted": deleted, "missed": missed}


async def one_effect() -> object:
    async with connect() as client:
        plan("cut-after", "cut-after")
        lost = ""
        try:
            await client.webhooks.create(url=RECEIVER_URL, event_type="ReportReady", enabled=False)
        except SecretLostError as error:
            lost = error.webhook_id
        log = read_log()
        listed = [one["id"] for one in await client.webhooks.list() if one["eventType"] == "ReportReady"]
        rotated = await client.webhooks.rotate_secret(lost)
        plan("cut-after")
        try:
            await client.webhooks.rotate_secret(lost)
        except SecretLostError as error:
            lost_again = error.webhook_id
        plan()
        await client.sessions.label("ses-3", verdict="human")
        await client.sessions.label("ses-3", verdict="human")
        await client.sessions.label("ses-3", verdict="human", idempotency_key="my own")
        keys = [read_key(entry) for entry in read_log()]
        await client.webhooks.delete(lost)
        return [
            *[len(log), len({read_key(entry) for entry in log}), listed == [lost], rotated["secret"][:6]],
            lost_again == lost,
            *[len(set(keys)), keys[2]],
        ]


async def timeouts() -> object:
    outcomes: list[object] = []
    for fault in ("hang", "drip"):
        plan(fault, fault)
        begun = time.monotonic()
        async with connect(timeout=0.6, max_retries=1) as client:
            try:
                await client.sessions.get("ses-1")
            except RequestTimeoutError as error:
                outcomes.append([*describe(error), len(read_log()), 1.2 <= time.monotonic() - begun < 3])
    async with connect() as client:
        async for user in client.users.list():
            break
    async with connect(timeout=5, max_retries=0) as client:
        plan("slowly", "stall-after")
        outcomes.append(len((await client.users.export(user["id"]))["sessions"]) > 0)
        try:
            await client.users.export(user["id"])
        except RequestTimeoutError as error:
            outcomes.append(describe(error))
    async with connect("http://127.0.0.1:9", max_retries=1) as client:
        try:
            await client.stats.get()
        except ConnectionFailedError as error:
            outcomes.append(describe(error))
    async with connect(timeout=float("inf")) as client:
        outcomes.append((await client.health.get())["status"])
    return outcomes


async def read_csv(client: AsyncClient) -> None:
    async for _ in client.exports.users(format="csv"):
        pass


async def errors() -> object:
    caught = []
    async with connect(BASE_URL) as client:
        for attempt in (
            lambda: client.sessions.get("no-such-session"),
            lambda: client.webhooks.create(url="ftp://x", event_type="BotDetected"),
            lambda: client.risk_thresholds.update(medium_at=70, bot_at=71),
        ):
            try:
                await attempt()
            except ApiError as error:
                caught.append([*describe(error), bool(error.request_id), f"request {error.request_id}" in str(error)])
        try:
            [one async for one in client.sessions.list(page_size=0)]
        except ApiError as error:
            caught.append(describe(error))
        names: list[dict[str, Any]] = [{"risklevel": "bot"}, {"user": "x"}]
        for wrong in names:
            try:
                client.sessions.list(**wrong)
            except TypeError as error:
                caught.append([type(error).__name__, str(error).split(",")[0]])
        for wrong_id in ("", ".", ".."):
            try:
                await client.sessions.get(wrong_id)
            except ValueError as error:
                caught.append([type(error).__name__, str(error)])
    async with AsyncClient(api_key="aik_v1_wrong", base_url=BASE_URL) as client:
        try:
            await client.stats.get()
        except ApiError as error:
            caught.append(describe(error))
    async with connect() as client:
        for fault, call in (
            (HTML_PAGE, client.stats.get),
            (HTML_PAGE, lambda: read_csv(client)),
            (HTML_PAGE, lambda: client.webhooks.delete("whk_1")),
            (failure(307, {"location": f"{BASE_URL}/v1/stats"}), client.stats.get),
        ):
            plan(fault)
            try:
                await call()
            except UnexpectedAnswerError as error:
                caught.append([*describe(error), len(read_log())])
    return caught


async def other_processes() -> object:
    """Whether errors stay what they are on the way to another process, as from a worker of multiprocessing."""
    errors: list[Exception] = [SecretLostError("whk_1"), WebhookVerificationError("m", "body"), IncompleteFileError("m")]
    async with connect(BASE_URL) as client:
        try:
            await client.sessions.get("no-such-session")
        except ApiError as error:
            errors.append(error)
    copies = [pickle.loads(pickle.dumps(error)) for error in errors]
    return [
        [type(copy) is type(error), str(copy) == str(error), vars(copy) == vars(error)]
        for copy, error in zip(copies, errors, strict=True)
    ]


async def show_error(client: AsyncClient) -> str:
    """What a program may print of an error, with the variables of all functions on the way."""
    try:
        await client.stats.get()
    except (ApiError, ConnectionFailedError) as error:
        shown = traceback.TracebackException.from_exception(error, capture_locals=True)
        return f"{error!r} {error} {vars(error)} {''.join(shown.format())}"
    raise AssertionError("no error")


async def secrets() -> object:
    """All that is printed and logged while much goes wrong."""
    output = io.StringIO()
    logging.basicConfig(level=logging.DEBUG, stream=output)
    async with connect() as client, connect(max_retries=1, timeout=0.5) as impatient:
        webhook = await client.webhooks.create(url=RECEIVER_URL, event_type="BotDetected", enabled=False)
        for faults in (["cut-before", "cut-before"], [failure(500)] * 2, ["hang", "hang"], [HTML_PAGE], [failure(401)]):
            plan(*faults)
            print(await show_error(impatient), file=output)
        rotated = await client.webhooks.rotate_secret(webhook["id"])
        await client.webhooks.delete(webhook["id"])
        for thing in (client, client.webhooks, client._transport, client._transport._http, client.sessions.list()):
            print(repr(thing), str(thing), vars(thing), file=output)
    for wrong_key in (f"{KEY}\n", f"{KEY}ö", ""):
        try:
            AsyncClient(api_key=wrong_key, base_url=BASE_URL)
        except ValueError as error:
            print(repr(error), file=output)
    text = output.getvalue()
    found = [secret for secret in (KEY, webhook["secret"], rotated["secret"]) if secret in text]
    return [len(text) > 5000, "send_request_headers" in text, [one[:6] for one in found]]


for line in sys.stdin:
    start(globals()[line.strip()], json.dumps)
