"""Webhooks in FastAPI and Starlette."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.exceptions import HTTPException
from starlette.requests import Request

from .errors import WebhookVerificationError
from .events import Event
from .webhooks import MAX_BODY_BYTES, TOO_LARGE, verify_webhook


async def read_event(request: Request, secrets: str | Iterable[str]) -> Event:
    """
    Answers the event of a request. Ends the request with 401 if it is not genuine, and with 400 if its body is larger than
    1 MiB. Nothing can read the body after it.
    """
    body = await _read_body(request)
    try:
        return verify_webhook(body, request.headers, secrets)
    except WebhookVerificationError as error:
        raise HTTPException(401, str(error)) from error


async def _read_body(request: Request) -> bytes:
    body, size = bytearray(), 0
    # The rest of what is too large is read and dropped, so that the answer arrives.
    async for chunk in request.stream():
        size += len(chunk)
        if size <= MAX_BODY_BYTES:
            body += chunk
    if size > MAX_BODY_BYTES:
        raise HTTPException(400, TOO_LARGE)
    return bytes(body)
