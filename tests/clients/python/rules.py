"""What needs no server: how answers are read, when requests are sent again, what is refused before anything is sent."""

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from bot_detection import Client, ServerError, WebhookVerificationError, verify_webhook
from bot_detection._answers import Answer, read_data, read_error, read_page, read_retry_after
from bot_detection._operations import CREATE_WEBHOOK, DELETE_WEBHOOK, GET_HEALTH, GET_SESSION, LIST_USERS
from bot_detection._requests import Authorization, build_call, choose_base_url
from bot_detection._retries import decide_pause


def name_refusal(attempt: Callable[..., object], *given: object, **named: object) -> str:
    try:
        attempt(*given, **named)
    except Exception as error:
        return type(error).__name__
    return "none"


def answer(body: object, status: int = 200) -> Answer:
    return Answer(status, {}, json.dumps(body).encode())


def pages() -> object:
    whole = {"data": [], "pagination": {"hasMore": False, "limit": 1}}
    # To end after the first of them would look like the end of the list.
    wrong: list[object] = [
        {"data": [], "pagination": {"hasMore": True, "limit": 1}},
        {"data": [], "pagination": None},
        {"data": None, "pagination": whole["pagination"]},
        {"data": []},
        {"pagination": whole["pagination"]},
        [],
    ]
    return [
        read_page(LIST_USERS, answer(whole)).has_more,
        [name_refusal(read_page, LIST_USERS, answer(one)) for one in wrong],
    ]


def contents() -> object:
    return [
        read_data(GET_SESSION, answer({"data": {"id": "s"}})),
        read_data(GET_HEALTH, answer({"status": "ok"})),
        read_data(DELETE_WEBHOOK, answer(None, 204)),
        name_refusal(read_data, GET_SESSION, answer({})),
        name_refusal(read_data, GET_SESSION, answer([])),
        name_refusal(read_data, GET_SESSION, answer({"data": {}}, 204)),
    ]


def errors() -> object:
    bodies: list[object] = [
        {"error": {"code": "C", "message": "m", "details": {"field": "f"}}},
        {"error": {"code": "C", "message": "m"}},
        {"error": "m"},
        {"error": None},
        [],
    ]
    read = [read_error(answer(body, 500)) for body in bodies]
    return [[type(one) is ServerError, one.status, one.code, one.field] for one in read]


def retry_after() -> object:
    texts = ("7", "0", "999999999", "", "-1", "1.5", "1e1", "\u00b2", "1234567890", "Wed, 21 Oct 2026 07:28:00 GMT")
    return [read_retry_after({"retry-after": text}) for text in texts]


def pauses() -> object:
    bounds: list[list[float]] = []

    def choose_longest(low: float, high: float) -> float:
        bounds.append([low, high])
        return high

    with patch("random.uniform", choose_longest):
        growing = [decide_pause("GET", 503, None, retries, 9_999) for retries in (*range(6), 5_000)]
        return [growing, bounds, decide_pause("GET", 429, 60, 0, 9), decide_pause("GET", 429, 61, 0, 9)]


def requests() -> object:
    longest = build_call(CREATE_WEBHOOK, (), {}, "~ " + "k" * 253)
    listed = build_call(LIST_USERS, (), {"cursor": None, "page_size": 5})
    return [
        len(longest.headers["idempotency-key"]),
        [name_refusal(build_call, CREATE_WEBHOOK, (), {}, key) for key in ("", "k" * 256, "a\n", "\u00e9")],
        listed.query,
    ]


def addresses() -> object:
    refused: list[object] = []
    for address in (
        *("api.example.com", "ftp://api.example.com", "https://", "https://u:password@api.example.com"),
        *("https://password@api.example.com", "https://api.example.com?password", "https://api.example.com/#password"),
    ):
        try:
            refused.append(choose_base_url(address, None))
        except ValueError as error:
            refused.append("password" in str(error))
    regions = {"us": "https://us.example.com/"}
    return [
        refused,
        choose_base_url(regions, "us"),
        [name_refusal(choose_base_url, regions, region) for region in ("eu", None)],
        [name_refusal(Authorization, key) for key in ("a b", " ", "a\n", "")],
    ]


def options() -> object:
    def connect(**option: Any) -> None:
        Client(api_key="k", base_url="https://api.example.com", **option).close()

    wrong: list[dict[str, object]] = [{"timeout": one} for one in (0, -1, float("nan"), None)]
    wrong += [{"max_retries": one} for one in (-1, float("nan"), None)]
    return [name_refusal(connect, **option) for option in wrong]


def deliveries() -> object:
    def receive(payload: object, event_type: str = "BotDetected", key: str = "whsec_a", **change: Any) -> str:
        body, timestamp = json.dumps(payload).encode(), str(int(time.time()))
        digest = hmac.new(key.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        headers = {
            "X-Webhook-Event": event_type,
            "X-Webhook-Id": "whk_1",
            "X-Webhook-Delivery-Id": "dlv_1",
            "X-Webhook-Timestamp": timestamp,
            "X-Webhook-Signature": f"sha256={digest}",
        }
        try:
            event = verify_webhook(**{"body": body, "headers": headers, "secrets": "whsec_a", **change})
        except WebhookVerificationError as error:
            return error.reason
        return f"{type(event).__name__} {event.type}"

    test = {"eventType": "BotDetected", "data": {"test": True}}
    return [
        *[receive({}), receive({}, "Later"), receive(test), receive({}, secrets=["whsec_b", "whsec_a"])],
        # Not a test: free fields of real events may have these names.
        *[
            receive({"data": {"test": True}}),
            receive({**test, "data": {"test": "x"}}),
            receive({**test, "data": ["x"]}),
        ],
        *[receive([]), receive("text"), receive(None)],
        # A text is one secret, and not each of its characters one.
        *[receive({}, key="w"), receive({}, key="")],
        *[name_refusal(receive, {}, key="", secrets=secrets) for secrets in ("", [], ["whsec_a", ""])],
    ]


def main() -> None:
    checks = (pages, contents, errors, retry_after, requests, addresses, options, deliveries, pauses)
    print(json.dumps({check.__name__: check() for check in checks}))


main()
