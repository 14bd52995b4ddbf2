"""Lists that are read page by page, and files that are read piece by piece."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import httpx

from .._answers import Chunks, Lines, Page, describe_failure
from .._requests import FileOperation, PagedOperation, build_call
from ..errors import BotDetectionError, IncompleteFileError
from .transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")


class AsyncPager(Generic[T]):
    """A list. Iterate over it for its items, or over `pages()`. Each iteration asks the API again."""

    def __init__(
        self, transport: AsyncTransport, operation: PagedOperation[T], *ids: str, arguments: Mapping[str, object]
    ) -> None:
        self._transport = transport
        self._operation = operation
        self._call = build_call(operation, ids, arguments)

    async def __aiter__(self) -> AsyncIterator[T]:
        async for page in self.pages():
            for item in page.data:
                yield item

    async def pages(self) -> AsyncIterator[Page[T]]:
        """Iterates over the pages, from the one of the argument `cursor`, if there is one."""
        call = self._call
        while True:
            page = await self._transport.request_page(self._operation, call)
            yield page
            if not page.has_more or page.next_cursor is None:
                return
            # A cache that ignores the query answers the same page again and again.
            if page.next_cursor == call.query.get("cursor"):
                raise BotDetectionError("the list goes on, but the page leads to itself")
            call = call.with_cursor(page.next_cursor)


class AsyncExport(Generic[T]):
    """
    A file that is read while the server writes it: an iterator over its objects (ndjson) or its bytes (csv). Raises
    IncompleteFileError if the file breaks off. Close it, or use it as a context manager, if you do not read all of it.
    """

    def __init__(
        self, transport: AsyncTransport, operation: FileOperation[Any], format: str, arguments: Mapping[str, object]
    ) -> None:
        self._transport = transport
        self._call = build_call(operation, (), arguments, extra_query={"format": format})
        self._parser = Chunks() if format == "csv" else Lines()
        self._items: deque[T] = deque()
        self._response: httpx.Response | None = None
        self._chunks: AsyncIterator[bytes] | None = None
        self._is_over = False
        self._is_broken = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        while not self._items:
            if self._is_over:
                raise StopAsyncIteration
            await self._read()
        return self._items.popleft()

    async def aclose(self) -> None:
        """Ends the connection, if the file is not read yet."""
        self._is_over = True
        self._items.clear()
        if self._response is not None:
            await self._response.aclose()

    async def _read(self) -> None:
        if self._is_broken:
            raise IncompleteFileError("an earlier read was cancelled or failed, so the file is incomplete")
        if self._response is None or self._chunks is None:
            self._response = await self._transport.open_file(self._call)
            self._chunks = self._response.aiter_bytes()
        # It stays so if the read fails or is cancelled. A program that reads on must not take the file for whole.
        self._is_broken = True
        try:
            self._items.extend(self._parser.feed(await self._chunks.__anext__()))
        except StopAsyncIteration:
            await self._response.aclose()
            self._parser.finish()
            self._is_over = True
        except httpx.RequestError as error:
            await self._response.aclose()
            raise IncompleteFileError(f"the file broke off: {describe_failure(error)}") from error
        except ValueError as error:
            # A proxy may write into a file that breaks off.
            await self._response.aclose()
            raise IncompleteFileError("a line of the file is none of the API") from error
        self._is_broken = False
