"""The methods of the client, grouped by what they are about. Arguments are as docs/openapi.json describes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

from .. import _operations as operations
from .. import types
from .._answers import require_secret
from .lists import AsyncExport, AsyncPager
from .transport import AsyncTransport

if TYPE_CHECKING:
    from typing_extensions import Unpack

    WebhookList = list[types.Webhook]


class Resource:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport


class Sessions(Resource):
    def list(self, **filters: Unpack[types.ListSessionsQuery]) -> AsyncPager[types.Session]:
        """Sessions, newest first."""
        return AsyncPager(self._transport, operations.LIST_SESSIONS, arguments=filters)

    async def get(self, session_id: str) -> types.Session:
        return await self._transport.request(operations.GET_SESSION, session_id)

    async def get_details(self, session_id: str) -> types.SessionDetails:
        """What happened in a session, over time."""
        return await self._transport.request(operations.GET_SESSION_DETAILS, session_id)

    async def get_evidence(self, session_id: str) -> types.SessionEvidence:
        """Why a session has its score."""
        return await self._transport.request(operations.GET_SESSION_EVIDENCE, session_id)

    def list_events(
        self, session_id: str, **paging: Unpack[types.ListSessionEventsQuery]
    ) -> AsyncPager[types.SessionEvent]:
        return AsyncPager(self._transport, operations.LIST_SESSION_EVENTS, session_id, arguments=paging)

    async def label(
        self, session_id: str, *, idempotency_key: str | None = None, **label: Unpack[types.LabelSessionRequest]
    ) -> types.SessionLabel:
        """Stores a reviewer's verdict, in place of an earlier one."""
        return await self._transport.request(
            operations.LABEL_SESSION, session_id, arguments=label, idempotency_key=idempotency_key
        )


class Users(Resource):
    def list(self, **paging: Unpack[types.ListUsersQuery]) -> AsyncPager[types.User]:
        return AsyncPager(self._transport, operations.LIST_USERS, arguments=paging)

    def list_sessions(self, user_id: str, **paging: Unpack[types.ListUserSessionsQuery]) -> AsyncPager[types.Session]:
        return AsyncPager(self._transport, operations.LIST_USER_SESSIONS, user_id, arguments=paging)

    async def confirm_device(
        self,
        user_id: str,
        fingerprint: str,
        *,
        idempotency_key: str | None = None,
        **confirmation: Unpack[types.ConfirmDeviceRequest],
    ) -> types.DeviceConfirmation:
        """Says that a device is the user's own."""
        return await self._transport.request(
            operations.CONFIRM_DEVICE, user_id, fingerprint, arguments=confirmation, idempotency_key=idempotency_key
        )

    async def erase(self, user_id: str) -> types.UserErasure:
        """Erases a user for good. The key needs the scope `users:erase`. Answers a receipt at once."""
        return await self._transport.request(operations.ERASE_USER, user_id)

    async def get_erasure(self, receipt_id: str) -> types.UserErasure:
        """What became of an erasure."""
        return await self._transport.request(operations.GET_USER_ERASURE, receipt_id)

    async def export(self, user_id: str) -> types.ExportUserResult:
        """All that is held about a user."""
        return await self._transport.request(operations.EXPORT_USER, user_id, is_long=True)


class Courses(Resource):
    def list(self, **paging: Unpack[types.ListCoursesQuery]) -> AsyncPager[types.Course]:
        return AsyncPager(self._transport, operations.LIST_COURSES, arguments=paging)


class Analytics(Resource):
    async def get(self, **window: Unpack[types.GetAnalyticsQuery]) -> types.Analytics:
        return await self._transport.request(operations.GET_ANALYTICS, arguments=window)


class Stats(Resource):
    async def get(self) -> types.Stats:
        return await self._transport.request(operations.GET_STATS)


class Usage(Resource):
    async def get(self, **range: Unpack[types.GetUsageQuery]) -> types.Usage:
        return await self._transport.request(operations.GET_USAGE, arguments=range)


class RiskThresholds(Resource):
    async def get(self) -> types.RiskThresholds:
        return await self._transport.request(operations.GET_RISK_THRESHOLDS)

    async def update(self, **thresholds: Unpack[types.UpdateRiskThresholdsRequest]) -> types.RiskThresholds:
        """Sets both thresholds, in percent. Past sessions are reclassified at once."""
        return await self._transport.request(operations.UPDATE_RISK_THRESHOLDS, arguments=thresholds)


class Webhooks(Resource):
    async def list(self) -> WebhookList:
        return await self._transport.request(operations.LIST_WEBHOOKS)

    async def create(
        self, *, idempotency_key: str | None = None, **webhook: Unpack[types.CreateWebhookRequest]
    ) -> types.WebhookWithSecret:
        """Makes a subscription. Keep its `secret`: no other answer shows it. Raises SecretLostError if it got lost."""
        created: types.WebhookWithSecret = await self._transport.request(
            operations.CREATE_WEBHOOK, arguments=webhook, idempotency_key=idempotency_key
        )
        return require_secret(created)

    async def get(self, webhook_id: str) -> types.Webhook:
        return await self._transport.request(operations.GET_WEBHOOK, webhook_id)

    async def update(self, webhook_id: str, **changes: Unpack[types.UpdateWebhookRequest]) -> types.Webhook:
        """Changes the fields that are given. `threshold=None` removes the threshold."""
        return await self._transport.request(operations.UPDATE_WEBHOOK, webhook_id, arguments=changes)

    async def delete(self, webhook_id: str) -> None:
        await self._transport.request(operations.DELETE_WEBHOOK, webhook_id)

    async def rotate_secret(
        self,
        webhook_id: str,
        *,
        idempotency_key: str | None = None,
        **rotation: Unpack[types.RotateWebhookSecretRequest],
    ) -> types.RotatedSecret:
        """
        Makes a new secret. With `grace_period_seconds` deliveries carry a signature of the old one too until it is over.
        Raises SecretLostError if the new one got lost.
        """
        rotated: types.RotatedSecret = await self._transport.request(
            operations.ROTATE_WEBHOOK_SECRET, webhook_id, arguments=rotation, idempotency_key=idempotency_key
        )
        return require_secret(rotated)

    async def test(self, webhook_id: str, *, idempotency_key: str | None = None) -> types.WebhookTestResult:
        """Sends one test delivery, and answers what became of it."""
        return await self._transport.request(operations.TEST_WEBHOOK, webhook_id, idempotency_key=idempotency_key)

    def list_deliveries(
        self, webhook_id: str, **filters: Unpack[types.ListWebhookDeliveriesQuery]
    ) -> AsyncPager[types.WebhookDelivery]:
        return AsyncPager(self._transport, operations.LIST_WEBHOOK_DELIVERIES, webhook_id, arguments=filters)

    async def get_delivery(self, webhook_id: str, delivery_id: str) -> types.WebhookDeliveryDetails:
        """A delivery with its attempts."""
        return await self._transport.request(operations.GET_WEBHOOK_DELIVERY, webhook_id, delivery_id)

    async def resend_delivery(
        self, webhook_id: str, delivery_id: str, *, idempotency_key: str | None = None
    ) -> types.WebhookDeliveryDetails:
        """Sends a delivery again that has ended."""
        return await self._transport.request(
            operations.RESEND_WEBHOOK_DELIVERY, webhook_id, delivery_id, idempotency_key=idempotency_key
        )

    async def recover(
        self,
        webhook_id: str,
        *,
        idempotency_key: str | None = None,
        **window: Unpack[types.RecoverWebhookDeliveriesRequest],
    ) -> types.RecoveredDeliveries:
        """Sends again what failed in a window."""
        return await self._transport.request(
            operations.RECOVER_WEBHOOK_DELIVERIES, webhook_id, arguments=window, idempotency_key=idempotency_key
        )


class WebhookEvents(Resource):
    def list(self, **filters: Unpack[types.ListWebhookEventsQuery]) -> AsyncPager[types.WebhookEvent]:
        """Every event that fired. Poll it with `sort="oldest"` and the `next_cursor` of the last page that you stored."""
        return AsyncPager(self._transport, operations.LIST_WEBHOOK_EVENTS, arguments=filters)

    async def get(self, event_id: str) -> types.WebhookEvent:
        return await self._transport.request(operations.GET_WEBHOOK_EVENT, event_id)


class Integration(Resource):
    async def get(self) -> types.Integration:
        return await self._transport.request(operations.GET_INTEGRATION)


class AuditLog(Resource):
    def list(self, **paging: Unpack[types.ListAuditEntriesQuery]) -> AsyncPager[types.AuditEntry]:
        return AsyncPager(self._transport, operations.LIST_AUDIT_ENTRIES, arguments=paging)


class Exports(Resource):
    """Whole lists as files: objects (`ndjson`) or the bytes of a table (`csv`)."""

    @overload
    def sessions(
        self, *, format: Literal["ndjson"] = "ndjson", **filters: Unpack[types.ExportSessionsQuery]
    ) -> AsyncExport[types.Session]: ...
    @overload
    def sessions(
        self, *, format: Literal["csv"], **filters: Unpack[types.ExportSessionsQuery]
    ) -> AsyncExport[bytes]: ...
    def sessions(
        self, *, format: Literal["ndjson", "csv"] = "ndjson", **filters: Unpack[types.ExportSessionsQuery]
    ) -> AsyncExport[types.Session] | AsyncExport[bytes]:
        return AsyncExport(self._transport, operations.EXPORT_SESSIONS, format, filters)

    @overload
    def users(self, *, format: Literal["ndjson"] = "ndjson") -> AsyncExport[types.User]: ...
    @overload
    def users(self, *, format: Literal["csv"]) -> AsyncExport[bytes]: ...
    def users(self, *, format: Literal["ndjson", "csv"] = "ndjson") -> AsyncExport[types.User] | AsyncExport[bytes]:
        return AsyncExport(self._transport, operations.EXPORT_USERS, format, {})

    @overload
    def webhook_events(
        self, *, format: Literal["ndjson"] = "ndjson", **filters: Unpack[types.ExportWebhookEventsQuery]
    ) -> AsyncExport[types.WebhookEvent]: ...
    @overload
    def webhook_events(
        self, *, format: Literal["csv"], **filters: Unpack[types.ExportWebhookEventsQuery]
    ) -> AsyncExport[bytes]: ...
    def webhook_events(
        self, *, format: Literal["ndjson", "csv"] = "ndjson", **filters: Unpack[types.ExportWebhookEventsQuery]
    ) -> AsyncExport[types.WebhookEvent] | AsyncExport[bytes]:
        return AsyncExport(self._transport, operations.EXPORT_WEBHOOK_EVENTS, format, filters)

    @overload
    def audit_log(self, *, format: Literal["ndjson"] = "ndjson") -> AsyncExport[types.AuditEntry]: ...
    @overload
    def audit_log(self, *, format: Literal["csv"]) -> AsyncExport[bytes]: ...
    def audit_log(
        self, *, format: Literal["ndjson", "csv"] = "ndjson"
    ) -> AsyncExport[types.AuditEntry] | AsyncExport[bytes]:
        return AsyncExport(self._transport, operations.EXPORT_AUDIT_ENTRIES, format, {})


class Health(Resource):
    async def get(self) -> types.Health:
        return await self._transport.request(operations.GET_HEALTH)
