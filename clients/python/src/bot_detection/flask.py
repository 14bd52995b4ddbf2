"""Webhooks in Flask."""

from __future__ import annotations

from collections.abc import Iterable

from flask import abort, request

from .errors import WebhookVerificationError
from .events import Event
from .webhooks import verify_webhook


def read_event(secrets: str | Iterable[str]) -> Event:
    """
    Answers the event of the request that the view answers. Ends the request with 401 if it is not genuine. Call it before
    anything else reads the body.
    """
    try:
        return verify_webhook(request.get_data(), request.headers, secrets)
    except WebhookVerificationError as error:
        abort(401, str(error))
