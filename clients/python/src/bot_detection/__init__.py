"""A client of the Bot Detection API."""

from ._answers import Page
from ._async.client import AsyncClient
from ._async.lists import AsyncExport, AsyncPager
from ._sync.client import Client
from ._sync.lists import Export, Pager
from ._version import __version__
from .errors import (
    ApiError,
    AuthenticationError,
    BotDetectionError,
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
    WebhookVerificationError,
)
from .webhooks import verify_webhook

__all__ = [
    "ApiError",
    "AsyncClient",
    "AsyncExport",
    "AsyncPager",
    "AuthenticationError",
    "BotDetectionError",
    "Client",
    "ConnectionFailedError",
    "Export",
    "IncompleteFileError",
    "InvalidRequestError",
    "NotFoundError",
    "Page",
    "Pager",
    "PermissionDeniedError",
    "PlanLimitError",
    "RateLimitError",
    "RequestTimeoutError",
    "SecretLostError",
    "ServerError",
    "UnexpectedAnswerError",
    "WebhookVerificationError",
    "__version__",
    "verify_webhook",
]
