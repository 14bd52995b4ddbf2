# Generated from docs/openapi.json by `npm run clients`. Do not edit.

from . import types
from ._requests import FileOperation, Operation, PagedOperation

GET_HEALTH = Operation[types.Health]("getHealth", "GET", "/health", is_in_envelope=False)
LIST_SESSIONS = PagedOperation[types.Session](
    "listSessions",
    "GET",
    "/v1/sessions",
    {
        "cursor": "cursor",
        "page_size": "pageSize",
        "start_date": "startDate",
        "end_date": "endDate",
        "status": "status",
        "min_bot_score": "minBotScore",
        "max_bot_score": "maxBotScore",
        "risk_level": "riskLevel",
        "detection_flag": "detectionFlag",
        "label": "label",
        "user_id": "userId",
        "course_id": "courseId",
        "fingerprint": "fingerprint",
        "origin": "origin",
        "device_type": "deviceType",
    },
)
GET_SESSION = Operation[types.Session]("getSession", "GET", "/v1/sessions/{sessionId}")
GET_SESSION_DETAILS = Operation[types.SessionDetails]("getSessionDetails", "GET", "/v1/sessions/{sessionId}/details")
GET_SESSION_EVIDENCE = Operation[types.SessionEvidence](
    "getSessionEvidence", "GET", "/v1/sessions/{sessionId}/evidence"
)
LIST_SESSION_EVENTS = PagedOperation[types.SessionEvent](
    "listSessionEvents", "GET", "/v1/sessions/{sessionId}/events", {"cursor": "cursor", "page_size": "pageSize"}
)
LABEL_SESSION = Operation[types.SessionLabel](
    "labelSession",
    "POST",
    "/v1/sessions/{sessionId}/label",
    {"verdict": "verdict", "confidence": "confidence", "notes": "notes"},
)
LIST_USERS = PagedOperation[types.User]("listUsers", "GET", "/v1/users", {"cursor": "cursor", "page_size": "pageSize"})
LIST_USER_SESSIONS = PagedOperation[types.Session](
    "listUserSessions", "GET", "/v1/users/{userId}/sessions", {"cursor": "cursor", "page_size": "pageSize"}
)
CONFIRM_DEVICE = Operation[types.DeviceConfirmation](
    "confirmDevice", "POST", "/v1/users/{userId}/devices/{fingerprint}/confirm", {"notes": "notes"}
)
ERASE_USER = Operation[types.UserErasure]("eraseUser", "DELETE", "/v1/users/{userId}")
GET_USER_ERASURE = Operation[types.UserErasure]("getUserErasure", "GET", "/v1/user-erasures/{receiptId}")
EXPORT_USER = Operation[types.ExportUserResult]("exportUser", "GET", "/v1/users/{userId}/export")
LIST_COURSES = PagedOperation[types.Course](
    "listCourses", "GET", "/v1/courses", {"cursor": "cursor", "page_size": "pageSize"}
)
GET_ANALYTICS = Operation[types.Analytics](
    "getAnalytics", "GET", "/v1/analytics", {"period": "period", "group_by": "groupBy"}
)
GET_STATS = Operation[types.Stats]("getStats", "GET", "/v1/stats")
GET_USAGE = Operation[types.Usage]("getUsage", "GET", "/v1/usage", {"start_date": "startDate", "end_date": "endDate"})
GET_RISK_THRESHOLDS = Operation[types.RiskThresholds]("getRiskThresholds", "GET", "/v1/settings/risk-thresholds")
UPDATE_RISK_THRESHOLDS = Operation[types.RiskThresholds](
    "updateRiskThresholds", "PUT", "/v1/settings/risk-thresholds", {"medium_at": "mediumAt", "bot_at": "botAt"}
)
LIST_WEBHOOKS = Operation[list[types.Webhook]]("listWebhooks", "GET", "/v1/webhooks")
CREATE_WEBHOOK = Operation[types.WebhookWithSecret](
    "createWebhook",
    "POST",
    "/v1/webhooks",
    {"url": "url", "event_type": "eventType", "threshold": "threshold", "name": "name", "enabled": "enabled"},
)
GET_WEBHOOK = Operation[types.Webhook]("getWebhook", "GET", "/v1/webhooks/{id}")
UPDATE_WEBHOOK = Operation[types.Webhook](
    "updateWebhook",
    "PATCH",
    "/v1/webhooks/{id}",
    {"url": "url", "event_type": "eventType", "threshold": "threshold", "name": "name", "enabled": "enabled"},
)
DELETE_WEBHOOK = Operation[None]("deleteWebhook", "DELETE", "/v1/webhooks/{id}", answers_nothing=True)
ROTATE_WEBHOOK_SECRET = Operation[types.RotatedSecret](
    "rotateWebhookSecret", "POST", "/v1/webhooks/{id}/rotate-secret", {"grace_period_seconds": "gracePeriodSeconds"}
)
TEST_WEBHOOK = Operation[types.WebhookTestResult]("testWebhook", "POST", "/v1/webhooks/{id}/test")
LIST_WEBHOOK_EVENTS = PagedOperation[types.WebhookEvent](
    "listWebhookEvents",
    "GET",
    "/v1/webhook-events",
    {
        "event_type": "eventType",
        "session_id": "sessionId",
        "user_id": "userId",
        "start_date": "startDate",
        "end_date": "endDate",
        "sort": "sort",
        "cursor": "cursor",
        "page_size": "pageSize",
    },
)
GET_WEBHOOK_EVENT = Operation[types.WebhookEvent]("getWebhookEvent", "GET", "/v1/webhook-events/{eventId}")
LIST_WEBHOOK_DELIVERIES = PagedOperation[types.WebhookDelivery](
    "listWebhookDeliveries",
    "GET",
    "/v1/webhooks/{id}/deliveries",
    {
        "status": "status",
        "start_date": "startDate",
        "end_date": "endDate",
        "sort": "sort",
        "cursor": "cursor",
        "page_size": "pageSize",
    },
)
GET_WEBHOOK_DELIVERY = Operation[types.WebhookDeliveryDetails](
    "getWebhookDelivery", "GET", "/v1/webhooks/{id}/deliveries/{deliveryId}"
)
RESEND_WEBHOOK_DELIVERY = Operation[types.WebhookDeliveryDetails](
    "resendWebhookDelivery", "POST", "/v1/webhooks/{id}/deliveries/{deliveryId}/resend"
)
RECOVER_WEBHOOK_DELIVERIES = Operation[types.RecoveredDeliveries](
    "recoverWebhookDeliveries",
    "POST",
    "/v1/webhooks/{id}/recover",
    {"start_date": "startDate", "end_date": "endDate", "include_skipped": "includeSkipped"},
)
GET_INTEGRATION = Operation[types.Integration]("getIntegration", "GET", "/v1/integration")
LIST_AUDIT_ENTRIES = PagedOperation[types.AuditEntry](
    "listAuditEntries", "GET", "/v1/audit-log", {"cursor": "cursor", "page_size": "pageSize"}
)
EXPORT_SESSIONS = FileOperation[types.Session](
    "exportSessions",
    "GET",
    "/v1/exports/sessions",
    {
        "start_date": "startDate",
        "end_date": "endDate",
        "status": "status",
        "min_bot_score": "minBotScore",
        "max_bot_score": "maxBotScore",
        "risk_level": "riskLevel",
        "detection_flag": "detectionFlag",
        "label": "label",
        "user_id": "userId",
        "course_id": "courseId",
        "fingerprint": "fingerprint",
        "origin": "origin",
        "device_type": "deviceType",
    },
)
EXPORT_USERS = FileOperation[types.User]("exportUsers", "GET", "/v1/exports/users")
EXPORT_WEBHOOK_EVENTS = FileOperation[types.WebhookEvent](
    "exportWebhookEvents",
    "GET",
    "/v1/exports/webhook-events",
    {
        "event_type": "eventType",
        "session_id": "sessionId",
        "user_id": "userId",
        "start_date": "startDate",
        "end_date": "endDate",
        "sort": "sort",
    },
)
EXPORT_AUDIT_ENTRIES = FileOperation[types.AuditEntry]("exportAuditEntries", "GET", "/v1/exports/audit-log")
