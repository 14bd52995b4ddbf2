"""What is received: data, pages, lines of files and errors. No input or output."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

import httpx

from . import types
from ._requests import Operation, PagedOperation
from .errors import (
    ApiError,
    AuthenticationError,
    ConnectionFailedError,
    IncompleteFileError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    PlanLimitError,
    RateLimitError,
    RequestTimeoutError,
    SecretLostError,
    ServerError,
    UnexpectedAnswerError,
)

T = TypeVar("T")

_FAMILIES: dict[int, type[ApiError]] = {
    400: InvalidRequestError,
    401: AuthenticationError,
    402: PlanLimitError,
    403: PermissionDeniedError,
    404: NotFoundError,
    429: RateLimitError,
}


@dataclass(frozen=True)
class Answer:
    """A complete answer."""

    status: int
    headers: Mapping[str, str]
    # It may have the secret of a webhook.
    body: bytes = field(repr=False)


@dataclass(frozen=True)
class Page(Generic[T]):
    """
    A page of a list. It may be empty while `has_more` is true. `next_cursor` continues the list, also later if it was asked
    for with `sort="oldest"`.
    """

    data: list[T]
    has_more: bool
    next_cursor: str | None


def read_data(operation: Operation[T], answer: Answer) -> T:
    """Answers the content of a success. Raises UnexpectedAnswerError if it is not what the API writes."""
    if operation.answers_nothing:
        if answer.status == 200:
            raise report_unexpected(answer)
        return cast(T, None)
    document = _read_object(answer)
    if operation.is_in_envelope and "data" not in document:
        raise report_unexpected(answer)
    return cast(T, document["data"] if operation.is_in_envelope else document)


def read_page(operation: PagedOperation[T], answer: Answer) -> Page[T]:
    """Answers the page of a success. Raises UnexpectedAnswerError if it is not what the API writes."""
    document = _read_object(answer)
    try:
        pagination = document["pagination"]
        page: Page[T] = Page(document["data"], pagination["hasMore"], pagination.get("nextCursor"))
    except (KeyError, TypeError, AttributeError):
        raise report_unexpected(answer) from None
    if not isinstance(page.data, list) or (page.has_more and page.next_cursor is None):
        raise report_unexpected(answer)
    return page


def _read_object(answer: Answer) -> dict[str, Any]:
    try:
        document = json.loads(answer.body)
    except ValueError:
        document = None
    if answer.status != 200 or not isinstance(document, dict):
        raise report_unexpected(answer)
    return document


def has_file(answer: Answer) -> bool:
    """Whether a success is a file of the API, and not the page of a proxy, for example."""
    content_type = answer.headers.get("content-type", "")
    return answer.status == 200 and content_type.split(";")[0].strip() in ("text/csv", "application/x-ndjson")


def report_unexpected(answer: Answer) -> UnexpectedAnswerError:
    """Makes the error of a success that the API does not write."""
    request_id = answer.headers.get("x-request-id")
    return UnexpectedAnswerError(
        "the answer is not one of the API", status=answer.status, code="UNKNOWN", request_id=request_id
    )


def read_retry_after(headers: Mapping[str, str]) -> int | None:
    """The seconds that the server asks to wait. The API never sends a date."""
    text = headers.get("retry-after", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def read_error(answer: Answer) -> ApiError:
    """Makes the error of an answer that is no success."""
    family = ServerError if answer.status >= 500 else _FAMILIES.get(answer.status, UnexpectedAnswerError)
    message, code, named = httpx.codes.get_reason_phrase(answer.status) or "no reason given", "UNKNOWN", None
    try:
        error = json.loads(answer.body)["error"]
        message, code = str(error["message"]), str(error["code"])
        named = (error.get("details") or {}).get("field")
    except (ValueError, KeyError, TypeError, AttributeError):
        # The answer of a proxy, for example. Its status has to do.
        pass
    return family(
        message,
        status=answer.status,
        code=code,
        field=named,
        request_id=answer.headers.get("x-request-id"),
        retry_after_seconds=read_retry_after(answer.headers),
    )


def describe_failure(error: httpx.RequestError) -> ConnectionFailedError:
    """Makes the error of a request that got no complete answer."""
    kind = RequestTimeoutError if isinstance(error, httpx.TimeoutException) else ConnectionFailedError
    return kind(str(error) or type(error).__name__)


_IN_LINE = "the file ends in the middle of a line"


class Lines:
    """Makes objects of the bytes of an NDJSON file as they arrive."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[Any]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        return [json.loads(line) for line in lines if line]

    def finish(self) -> None:
        if self._rest:
            raise IncompleteFileError(_IN_LINE)


class Chunks:
    """Passes the bytes of a file of lines on."""

    def __init__(self) -> None:
        self._last = b""

    def feed(self, chunk: bytes) -> list[Any]:
        self._last = chunk or self._last
        return [chunk]

    def finish(self) -> None:
        # Not every proxy says where an answer ends, so what breaks off can look whole.
        if not self._last.endswith(b"\n"):
            raise IncompleteFileError(_IN_LINE)


WithSecret = TypeVar("WithSecret", types.WebhookWithSecret, types.RotatedSecret)


def require_secret(answer: WithSecret) -> WithSecret:
    """Raises SecretLostError for a repeated answer, in which the secret is empty."""
    if answer["secret"] == "":
        raise SecretLostError(answer["id"])
    return answer
