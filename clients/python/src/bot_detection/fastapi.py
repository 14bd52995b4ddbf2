"""Webhooks in FastAPI and Starlette."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.exceptions import HTTPException
from starlette.requests import Request

from .errors import WebhookVerificationError
from .events import Event
from .webhooks import verify_webhook


async def read_event(request: Request, secrets: str | Iterable[str]) -> Event:
    """Answers the event of a request. Ends the request with 401 if it is not genuine."""
    try:
        return verify_webhook(await request.body(), request.headers, secrets)
    except WebhookVerificationError as error:
        raise HTTPException(401, str(error)) from error
