"""Everything that the client raises."""

from __future__ import annotations

from typing import Any, Literal


class BotDetectionError(Exception):
    """Every error of this package."""

    def __reduce__(self) -> tuple[Any, ...]:
        # By itself an exception is made again of its message alone. That would fail in the process that gets it of a worker.
        return _make_again, (type(self), self.args), self.__dict__


def _make_again(family: type[BotDetectionError], args: tuple[Any, ...]) -> BotDetectionError:
    return family.__new__(family, *args)


class ConnectionFailedError(BotDetectionError):
    """No complete answer arrived, although the request was repeated where that is safe."""


class RequestTimeoutError(ConnectionFailedError):
    """The answer took longer than the client's timeout."""


class IncompleteFileError(ConnectionFailedError):
    """An export broke off: what was read of the file is not all of it."""


class ApiError(BotDetectionError):
    """
    The API answered with an error. `code` is stable, the message is for people. `field` names the offending parameter or
    field, `request_id` is what support asks for, `retry_after_seconds` is what the server asked to wait.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        field: str | None = None,
        request_id: str | None = None,
        retry_after_seconds: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.field = field
        self.request_id = request_id
        self.retry_after_seconds = retry_after_seconds

    def __str__(self) -> str:
        request = f", request {self.request_id}" if self.request_id else ""
        return f"{self.args[0]} ({self.status} {self.code}{request})"


class InvalidRequestError(ApiError):
    """400: `field` names what is wrong."""


class AuthenticationError(ApiError):
    """401: no key, or one that is not valid here."""


class PlanLimitError(ApiError):
    """402: the plan allows no more."""


class PermissionDeniedError(ApiError):
    """403: the key lacks the scope that the message names."""


class NotFoundError(ApiError):
    """404: the integration has no such thing."""


class RateLimitError(ApiError):
    """429: wait for `retry_after_seconds`."""


class ServerError(ApiError):
    """5xx: a fault or an outage of the service."""


class UnexpectedAnswerError(ApiError):
    """An answer that the API does not give, for example a redirect or the page of a proxy."""


class SecretLostError(BotDetectionError):
    """
    A webhook was created or its secret rotated, but the only answer that had the secret got lost. Rotate the secret of
    `webhook_id` to get one. Until then its deliveries cannot be verified.
    """

    def __init__(self, webhook_id: str) -> None:
        super().__init__(f"the answer with the secret of {webhook_id} got lost; rotate the secret")
        self.webhook_id = webhook_id


Refusal = Literal["header", "timestamp", "signature", "body"]


class WebhookVerificationError(BotDetectionError):
    """
    A delivery is not genuine. `reason`: a `header` is missing, the `timestamp` is unreadable or more than 300 seconds
    off, no `signature` matches, or the signed `body` is not a JSON object.
    """

    def __init__(self, message: str, reason: Refusal) -> None:
        super().__init__(message)
        self.reason = reason
