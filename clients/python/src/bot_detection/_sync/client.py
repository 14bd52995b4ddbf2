# Generated from the module of the same name in _async by `npm run clients`. Do not edit.
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from . import resources
from .transport import Transport

if TYPE_CHECKING:
    from typing_extensions import Self


class Client:
    """
    A client of the Bot Detection API. `base_url` is the address of the service, or one for each region of which `region`
    chooses. `timeout` is in seconds, for one attempt of a request; for an export, for each wait. After the first attempt a
    request is repeated at most `max_retries` times where that is safe. Close the client, or use it as a context manager.
    """

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str | Mapping[str, str],
        region: str | None = None,
        timeout: float = 30,
        max_retries: int = 3,
    ) -> None:
        self._transport = transport = Transport(api_key, base_url, region, timeout, max_retries)
        self.sessions = resources.Sessions(transport)
        self.users = resources.Users(transport)
        self.courses = resources.Courses(transport)
        self.analytics = resources.Analytics(transport)
        self.stats = resources.Stats(transport)
        self.usage = resources.Usage(transport)
        self.risk_thresholds = resources.RiskThresholds(transport)
        self.webhooks = resources.Webhooks(transport)
        self.webhook_events = resources.WebhookEvents(transport)
        self.integration = resources.Integration(transport)
        self.audit_log = resources.AuditLog(transport)
        self.exports = resources.Exports(transport)
        self.health = resources.Health(transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the connections."""
        self._transport.close()
