"""What is sent: operations of the API, and requests made of them. No input or output."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar
from urllib.parse import quote, urlsplit

import httpx

T = TypeVar("T")


@dataclass(frozen=True)
class Operation(Generic[T]):
    """An operation of the API that answers one T. `arguments` maps the names of Python to those of the API."""

    id: str
    method: str
    path: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    is_in_envelope: bool = True
    answers_nothing: bool = False


class PagedOperation(Operation[T]):
    """An operation that answers pages of T."""


class FileOperation(Operation[T]):
    """An operation that answers a file with a T in each line."""


@dataclass(frozen=True)
class Call:
    """A request that can be sent several times. `is_removal`: the thing is gone afterwards, and nothing is answered."""

    method: str
    path: str
    query: Mapping[str, str]
    content: bytes | None
    headers: Mapping[str, str]
    is_removal: bool

    def with_cursor(self, cursor: str) -> Call:
        return replace(self, query={**self.query, "cursor": cursor})


def build_call(
    operation: Operation[T],
    ids: tuple[str, ...],
    arguments: Mapping[str, object],
    idempotency_key: str | None = None,
    extra_query: Mapping[str, str] | None = None,
) -> Call:
    """Makes a request. Raises TypeError for arguments that the operation does not take, ValueError for ids that no path can have."""
    unknown = [name for name in arguments if name not in operation.arguments]
    if unknown:
        raise TypeError(
            f"{operation.id} takes no argument {unknown[0]!r}, but {', '.join(operation.arguments) or 'none'}"
        )
    values = {operation.arguments[name]: value for name, value in arguments.items()}
    headers = {}
    if operation.method == "POST":
        headers["idempotency-key"] = _check_key(str(uuid.uuid4()) if idempotency_key is None else idempotency_key)
    content = None
    query = dict(extra_query or {})
    if operation.method in ("POST", "PUT", "PATCH"):
        if operation.arguments:
            content = json.dumps(values).encode()
            headers["content-type"] = "application/json"
    else:
        query |= {name: _write_value(value) for name, value in values.items() if value is not None}
    is_removal = operation.method == "DELETE" and operation.answers_nothing
    return Call(operation.method, _fill_path(operation.path, ids), query, content, headers, is_removal)


def _check_key(key: str) -> str:
    if not re.fullmatch("[ -~]{1,255}", key):
        raise ValueError("an idempotency key has 1 to 255 printable ASCII characters")
    return key


def _write_value(value: object) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _fill_path(template: str, ids: tuple[str, ...]) -> str:
    rest = iter(ids)
    return re.sub(r"\{[^}]*\}", lambda _: _encode_segment(next(rest)), template)


def _encode_segment(segment: str) -> str:
    # Clients and proxies resolve these, encoded too.
    if segment in ("", ".", ".."):
        raise ValueError(f"an id cannot be {segment!r}")
    return quote(segment, safe="")


class Authorization(httpx.Auth):
    """Adds the key to each request. Nothing that is printed or logged has it."""

    def __init__(self, api_key: str) -> None:
        if not re.fullmatch("[!-~]+", api_key):
            raise ValueError("the API key is empty, or has spaces or characters that are not ASCII")
        self._value = f"Bearer {api_key}"

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers["authorization"] = self._value
        yield request


def choose_base_url(base_url: str | Mapping[str, str], region: str | None) -> str:
    """Answers the address of the region, without a slash at its end. Raises ValueError if it cannot be one."""
    if isinstance(base_url, str):
        address = base_url
    elif region is None or region not in base_url:
        raise ValueError(f"base_url has the regions {', '.join(base_url)}: region must be one of them")
    else:
        address = base_url[region]
    parts = urlsplit(address)
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or parts.query
        or parts.fragment
        or "@" in parts.netloc
    ):
        raise ValueError("base_url must be like https://api.example.com")
    return address.rstrip("/")
