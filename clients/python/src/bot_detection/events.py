# Generated from docs/openapi.json by `npm run clients`. Do not edit.
"""What deliveries of webhooks report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from . import types


@dataclass(frozen=True)
class Delivery:
    """
    Every attempt of a delivery has the same `delivery_id`: handle each once. `timestamp` is when the attempt was
    signed, in Unix seconds.
    """

    subscription_id: str
    delivery_id: str
    timestamp: int


@dataclass(frozen=True)
class BotDetected(Delivery):
    """A scored session crosses the bot threshold at session close."""

    payload: types.BotDetectedPayload
    type: Literal["BotDetected"] = "BotDetected"


@dataclass(frozen=True)
class SessionAnomaly(Delivery):
    """The correlation pipeline writes an anomaly record (DeviceSwitch, ImpossibleTravel, SharedDevice and others)."""

    payload: types.SessionAnomalyPayload
    type: Literal["SessionAnomaly"] = "SessionAnomaly"


@dataclass(frozen=True)
class SessionCorrelated(Delivery):
    """A pixel session is matched to an LMS user with confidence."""

    payload: types.SessionCorrelatedPayload
    type: Literal["SessionCorrelated"] = "SessionCorrelated"


@dataclass(frozen=True)
class WritingSessionScored(Delivery):
    """A writing session closes with an AI-content score."""

    payload: types.WritingSessionScoredPayload
    type: Literal["WritingSessionScored"] = "WritingSessionScored"


@dataclass(frozen=True)
class ReportReady(Delivery):
    """A report becomes Ready and has a download URL."""

    payload: types.ReportReadyPayload
    type: Literal["ReportReady"] = "ReportReady"


@dataclass(frozen=True)
class AlertTriggered(Delivery):
    """A configured alert rule fires within its time window."""

    payload: types.AlertTriggeredPayload
    type: Literal["AlertTriggered"] = "AlertTriggered"


@dataclass(frozen=True)
class ThresholdExceeded(Delivery):
    """A metric crosses a customer-defined threshold (reserved; not yet emitted)."""

    payload: types.ThresholdExceededPayload
    type: Literal["ThresholdExceeded"] = "ThresholdExceeded"


@dataclass(frozen=True)
class TestDelivery(Delivery):
    """A synthetic delivery that `POST /v1/webhooks/{id}/test` sends, under the subscription’s own event type and with `X-Webhook-Test: true`. It is not retried."""

    payload: types.TestDeliveryPayload
    type: Literal["TestDelivery"] = "TestDelivery"


@dataclass(frozen=True)
class UnknownEvent(Delivery):
    """An event that this version of the client does not know."""

    payload: dict[str, Any]
    type: str


Event = (
    BotDetected
    | SessionAnomaly
    | SessionCorrelated
    | WritingSessionScored
    | ReportReady
    | AlertTriggered
    | ThresholdExceeded
    | TestDelivery
    | UnknownEvent
)

EVENT_CLASSES: dict[str, Callable[[str, str, int, Any], Event]] = {
    "BotDetected": BotDetected,
    "SessionAnomaly": SessionAnomaly,
    "SessionCorrelated": SessionCorrelated,
    "WritingSessionScored": WritingSessionScored,
    "ReportReady": ReportReady,
    "AlertTriggered": AlertTriggered,
    "ThresholdExceeded": ThresholdExceeded,
}
