# Generated from the module of the same name in _async by `npm run clients`. Do not edit.
"""Lists that are read page by page, and files that are read piece by piece."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import httpx

from .._answers import Chunks, Lines, Page, describe_failure
from .._requests import FileOperation, PagedOperation, build_call
from ..errors import BotDetectionError, IncompleteFileError
from .transport import Transport

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")


class Pager(Generic[T]):
    """A list. Iterate over it for its items, or over `pages()`. Each iteration asks the API again."""

    def __init__(
        self, transport: Transport, operation: PagedOperation[T], *ids: str, arguments: Mapping[str, object]
    ) -> None:
        self._transport = transport
        self._operation = operation
        self._call = build_call(operation, ids, arguments)

    def __iter__(self) -> Iterator[T]:
        for page in self.pages():
            for item in page.data:
                yield item

    def pages(self) -> Iterator[Page[T]]:
        """Iterates over the pages, from the one of the argument `cursor`, if there is one."""
        call = self._call
        while True:
            page = self._transport.request_page(self._operation, call)
            yield page
            if not page.has_more or page.next_cursor is None:
                return
            # A cache that ignores the query answers the same page again and again.
            if page.next_cursor == call.query.get("cursor"):
                raise BotDetectionError("the list goes on, but the page leads to itself")
            call = call.with_cursor(page.next_cursor)


class Export(Generic[T]):
    """
    A file that is read while the server writes it: an iterator over its objects (ndjson) or its bytes (csv). Raises
    IncompleteFileError if the file breaks off. Close it, or use it as a context manager, if you do not read all of it.
    """

    def __init__(
        self, transport: Transport, operation: FileOperation[Any], format: str, arguments: Mapping[str, object]
    ) -> None:
        self._transport = transport
        self._call = build_call(operation, (), arguments, extra_query={"format": format})
        self._parser = Chunks() if format == "csv" else Lines()
        self._items: deque[T] = deque()
        self._response: httpx.Response | None = None
        self._chunks: Iterator[bytes] | None = None
        self._is_over = False
        self._is_broken = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        while not self._items:
            if self._is_over:
                raise StopIteration
            self._read()
        return self._items.popleft()

    def close(self) -> None:
        """Ends the connection, if the file is not read yet."""
        self._is_over = True
        self._items.clear()
        if self._response is not None:
            self._response.close()

    def _read(self) -> None:
        if self._is_broken:
            raise IncompleteFileError("an earlier read was cancelled or failed, so the file is incomplete")
        if self._response is None or self._chunks is None:
            self._response = self._transport.open_file(self._call)
            self._chunks = self._response.iter_bytes()
        # It stays so if the read fails or is cancelled. A program that reads on must not take the file for whole.
        self._is_broken = True
        try:
            self._items.extend(self._parser.feed(self._chunks.__next__()))
        except StopIteration:
            self._response.close()
            self._parser.finish()
            self._is_over = True
        except httpx.RequestError as error:
            self._response.close()
            raise IncompleteFileError(f"the file broke off: {describe_failure(error)}") from error
        except ValueError as error:
            # A proxy may write into a file that breaks off.
            self._response.close()
            raise IncompleteFileError("a line of the file is none of the API") from error
        self._is_broken = False
