# Generated from the module of the same name in _async by `npm run clients`. Do not edit.
"""Sends requests, and sends them again where that is safe."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TypeVar

import httpx

from .._answers import (
    Answer,
    Page,
    describe_failure,
    has_file,
    read_data,
    read_error,
    read_page,
    read_retry_after,
    report_unexpected,
)
from .._requests import Authorization, Call, Operation, PagedOperation, build_call, choose_base_url
from .._retries import Deadline, check_retries, check_timeout, decide_pause
from .._version import __version__
from ..errors import BotDetectionError

T = TypeVar("T")


class Transport:
    def __init__(
        self, api_key: str, base_url: str | Mapping[str, str], region: str | None, timeout: float, max_retries: int
    ) -> None:
        self._timeout_s = check_timeout(timeout)
        self._max_retries = check_retries(max_retries)
        self._http = httpx.Client(
            base_url=choose_base_url(base_url, region),
            auth=Authorization(api_key),
            headers={"user-agent": f"bot-detection-client-python/{__version__}"},
            timeout=self._timeout_s,
            # The key would go elsewhere.
            follow_redirects=False,
        )

    def close(self) -> None:
        self._http.close()

    def request(
        self,
        operation: Operation[T],
        *ids: str,
        arguments: Mapping[str, object] | None = None,
        idempotency_key: str | None = None,
        is_long: bool = False,
    ) -> T:
        """`is_long`: the answer may be of any length, so the timeout is for each wait alone."""
        call = build_call(operation, ids, arguments or {}, idempotency_key)
        answer, _ = self._send(call, is_long=is_long)
        return read_data(operation, answer)

    def request_page(self, operation: PagedOperation[T], call: Call) -> Page[T]:
        answer, _ = self._send(call)
        return read_page(operation, answer)

    def open_file(self, call: Call) -> httpx.Response:
        """Answers a success whose body is still to be read. Raises UnexpectedAnswerError if it is no file."""
        answer, response = self._send(call, is_file=True)
        if not has_file(answer):
            response.close()
            raise report_unexpected(answer)
        return response

    def _send(self, call: Call, is_file: bool = False, is_long: bool = False) -> tuple[Answer, httpx.Response]:
        """Answers a success. Raises the error of any other answer, or of the last attempt if none was complete."""
        retries = 0
        # How the last attempt failed of which nobody knows whether it took effect.
        lost: BotDetectionError | None = None
        while True:
            try:
                answer, response = self._attempt(call, is_file, is_long)
            except httpx.RequestError as error:
                pause_s = decide_pause(call.method, None, None, retries, self._max_retries)
                lost = describe_failure(error)
                if pause_s is None:
                    raise lost from error
            else:
                # A removal that finds nothing: an earlier attempt, whose answer got lost, has removed it.
                is_removed = call.is_removal and answer.status == 404 and lost is not None
                if answer.status in (200, 204) or is_removed:
                    return answer, response
                retry_after_s = read_retry_after(answer.headers)
                pause_s = decide_pause(call.method, answer.status, retry_after_s, retries, self._max_retries)
                fault = read_error(answer)
                if answer.status != 429:
                    lost = fault
                if pause_s is None:
                    # A refusal for the rate says that nothing was done. That is untrue of a change that was sent before.
                    raise fault if call.method == "GET" else lost or fault
            retries += 1
            time.sleep(pause_s)

    def _attempt(self, call: Call, is_file: bool, is_long: bool) -> tuple[Answer, httpx.Response]:
        """Sends a request once. The body of a file is left to be read."""
        deadline = Deadline(self._timeout_s)
        request = self._http.build_request(
            call.method, call.path, params=call.query or None, content=call.content, headers=call.headers
        )
        response = self._http.send(request, stream=True)
        if is_file and response.status_code == 200:
            return Answer(200, response.headers, b""), response
        try:
            chunks = []
            for chunk in response.iter_bytes():
                chunks.append(chunk)
                # The timeout of httpx is for each piece of the answer.
                if deadline.is_over() and not is_long:
                    raise httpx.ReadTimeout(f"the answer took longer than {self._timeout_s} s")
        finally:
            response.close()
        return Answer(response.status_code, response.headers, b"".join(chunks)), response
