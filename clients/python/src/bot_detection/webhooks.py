"""Verifies deliveries of webhooks."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable
from typing import Any, Protocol

from .errors import WebhookVerificationError
from .events import EVENT_CLASSES, Event, TestDelivery, UnknownEvent

TOLERANCE_S = 300
# Many times what a delivery has.
MAX_BODY_BYTES = 1024 * 1024
TOO_LARGE = "the body is larger than 1 MiB"


class Headers(Protocol):
    """The headers of a request, as frameworks give them. Their names may be in any case."""

    def items(self) -> Iterable[tuple[str, str]]: ...


def verify_webhook(body: bytes, headers: Headers, secrets: str | Iterable[str]) -> Event:
    """
    Answers the event of a genuine delivery; else raises WebhookVerificationError. `body` is the raw bytes as they arrived.
    `secrets` is the subscription's secret, or several during a rotation; the signature of the previous secret is compared
    too.
    """
    keys = [secrets] if isinstance(secrets, str) else list(secrets)
    if not keys or "" in keys:
        raise ValueError("a secret is missing or empty")
    given = {name.lower(): value for name, value in headers.items()}
    names = ("x-webhook-event", "x-webhook-id", "x-webhook-delivery-id", "x-webhook-timestamp", "x-webhook-signature")
    for name in names:
        if not given.get(name):
            raise WebhookVerificationError(f"the header {name} is missing", "header")
    event_type, subscription_id, delivery_id, timestamp, signature = (given[name] for name in names)
    if not re.fullmatch("[0-9]{1,12}", timestamp) or abs(time.time() - int(timestamp)) > TOLERANCE_S:
        raise WebhookVerificationError(
            f"the timestamp is more than {TOLERANCE_S} seconds off, or unreadable", "timestamp"
        )
    signatures = [signature, given.get("x-webhook-signature-previous", "")]
    if not _matches(keys, timestamp.encode() + b"." + body, signatures):
        raise WebhookVerificationError("no signature matches", "signature")
    try:
        payload = json.loads(body)
    except ValueError:
        payload = None
    if not isinstance(payload, dict):
        raise WebhookVerificationError("the body is not a JSON object", "body")
    return _make_event(event_type, payload, subscription_id, delivery_id, int(timestamp))


def _matches(keys: list[str], message: bytes, signatures: list[str]) -> bool:
    # Always all comparisons, so that the time says nothing about which one matched.
    matches = [
        hmac.compare_digest(
            b"sha256=" + hmac.new(key.encode(), message, hashlib.sha256).hexdigest().encode(),
            signature.encode("utf-8", "replace"),
        )
        for key in keys
        for signature in signatures
    ]
    return any(matches)


def _make_event(event_type: str, payload: Any, subscription_id: str, delivery_id: str, timestamp: int) -> Event:
    head = (subscription_id, delivery_id, timestamp)
    # The body is signed, the header X-Webhook-Test is not.
    data = payload.get("data")
    if "eventType" in payload and isinstance(data, dict) and data.get("test") is True:
        return TestDelivery(*head, payload)
    event_class = EVENT_CLASSES.get(event_type)
    return UnknownEvent(*head, payload, event_type) if event_class is None else event_class(*head, payload)
