"""Webhooks in Flask."""

from __future__ import annotations

from collections.abc import Iterable

from flask import abort, request

from .errors import WebhookVerificationError
from .events import Event
from .webhooks import MAX_BODY_BYTES, TOO_LARGE, verify_webhook

_CHUNK_BYTES = 65_536


def read_event(secrets: str | Iterable[str]) -> Event:
    """
    Answers the event of the request that the view answers. Ends the request with 401 if it is not genuine, and with 400 if
    its body is larger than 1 MiB. Call it before anything else reads the body; nothing can read it afterwards. Raises RuntimeError
    if something did: Flask answers 500, and the delivery is sent again.
    """
    body = _read_body()
    try:
        return verify_webhook(body, request.headers, secrets)
    except WebhookVerificationError as error:
        abort(401, str(error))


def _read_body() -> bytes:
    body, size = bytearray(), 0
    # The rest of what is too large is read and dropped, so that the answer arrives.
    while chunk := request.stream.read(_CHUNK_BYTES):
        size += len(chunk)
        if size <= MAX_BODY_BYTES:
            body += chunk
    if size == 0 and request.content_length:
        raise RuntimeError("the body was read before read_event, so the delivery cannot be verified")
    if size > MAX_BODY_BYTES:
        abort(400, TOO_LARGE)
    return bytes(body)
