# Generated from docs/openapi.json by `npm run clients`. Do not edit.

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal, TypedDict

if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired


class AlertTriggeredPayload(TypedDict):
    alertId: str
    severity: str
    """
    Lowercase.
    """
    message: str
    triggeredAt: str
    alertUrl: str | None


class Analytics(TypedDict):
    period: Literal["24h", "7d", "30d", "90d"]
    groupBy: Literal["hour", "day", "week"]
    startDate: str
    """
    Start of the window’s first bucket.
    """
    endDate: str
    generatedAt: str
    summary: AnalyticsSummary
    timeSeries: list[AnalyticsTimeSery]
    """
    Every bucket of the window, also empty ones.
    """
    botDetection: AnalyticsBotDetection
    """
    Sessions that are scored or labelled, by class.
    """
    userMatching: AnalyticsUserMatching
    topOrigins: list[AnalyticsTopOrigin]
    """
    The ten with the most sessions.
    """
    deviceBreakdown: AnalyticsDeviceBreakdown


class AnalyticsBotDetection(TypedDict):
    """
    Sessions that are scored or labelled, by class.
    """

    highConfidenceBots: int
    """
    Bots with a score of at least 0.9, or labelled bot.
    """
    mediumConfidenceBots: int
    """
    The other sessions of the class `bot`.
    """
    lowConfidenceBots: int
    """
    Sessions of the class `medium`.
    """
    likelyHumans: int
    """
    Sessions of the class `human`.
    """


class AnalyticsDeviceBreakdown(TypedDict):
    mobile: int
    tablet: int
    desktop: int
    browserCounts: dict[str, int]
    """
    The 20 browsers with the most sessions; `Other` counts all others.
    """


class AnalyticsSummary(TypedDict):
    totalSessions: int
    totalEvents: int
    """
    Events of those sessions.
    """
    uniqueBots: int
    """
    Different devices with a session of the class `bot`.
    """
    uniqueUsers: int
    """
    Different correlated users.
    """
    averageBotScore: float
    """
    Mean over the scored sessions, 0 to 1; 0 when there are none.
    """
    averageEventsPerSession: float


class AnalyticsTimeSery(TypedDict):
    timestamp: str
    """
    Start of the bucket.
    """
    sessionCount: int
    eventCount: int
    botCount: int
    """
    Sessions of the class `bot`.
    """
    userMatchedCount: int
    """
    Sessions that are correlated with a user.
    """


class AnalyticsTopOrigin(TypedDict):
    origin: str
    sessionCount: int
    botPercentage: float
    """
    0 to 100.
    """


class AnalyticsUserMatching(TypedDict):
    totalMatched: int
    totalUnmatched: int
    matchRate: float
    """
    Share of matched sessions, 0 to 1.
    """
    averageCorrelationConfidence: float
    """
    Mean over the matched sessions, 0 to 1.
    """


class AuditEntry(TypedDict):
    id: str
    at: str
    action: str
    """
    What was done; new actions may be added.
    """
    actor: AuditEntryActor
    subjectId: str
    """
    What was changed: the integration, the id of a key, site, webhook, session, user, alert rule, report or schedule of reports, or the name of a rule on findings. Of a user who was erased it is a hash.
    """
    details: dict[str, object]
    """
    The values before and after, by action; never a secret.
    """


class AuditEntryActor(TypedDict):
    kind: Literal["Staff", "ApiKey", "Operator"]
    """
    Our staff, an API key of yours, or our operator.
    """
    id: str | None
    """
    Of the key; null for others.
    """
    name: str | None
    """
    The masked key; null for others.
    """


class BotDetectedPayload(TypedDict):
    sessionId: str
    botScore: float
    scoredAt: str
    userId: str | None
    contextId: str | None
    """
    The course, where the session’s URL names one.
    """
    sessionUrl: str | None
    """
    Link to the session in the dashboard.
    """


class ConfirmDeviceRequest(TypedDict):
    notes: NotRequired[str | None]
    """
    Free text, at most 1000 characters.
    """


class Course(TypedDict):
    id: str
    """
    Stands for host and course: course 42 exists on every host.
    """
    name: str
    code: str | None
    url: str
    sessionCount: int
    userCount: int
    """
    Different correlated users.
    """
    botSessionCount: int
    """
    Sessions of the risk class `bot`.
    """
    averageBotScore: float | None
    """
    Mean over the scored sessions, 0 to 1.
    """
    firstSeenAt: str
    """
    Start of the first session.
    """
    lastSeenAt: str
    """
    Start of the latest session.
    """


class CreateWebhookRequest(TypedDict):
    url: str
    """
    http or https, port 80 or 443, at most 2048 characters, no private address.
    """
    event_type: Literal[
        "BotDetected",
        "SessionAnomaly",
        "SessionCorrelated",
        "WritingSessionScored",
        "ReportReady",
        "AlertTriggered",
        "ThresholdExceeded",
    ]
    """
    One of the event types, in any case.
    """
    threshold: NotRequired[ThresholdInput | None]
    name: NotRequired[str | None]
    """
    Default: the event type.
    """
    enabled: NotRequired[bool | None]
    """
    Default: true.
    """


class DeviceConfirmation(TypedDict):
    userId: str
    fingerprint: str
    confirmedAt: str
    """
    The latest confirmation.
    """
    firstConfirmedAt: str
    suppresses: list[Literal["SharedDevice", "DeviceSwitch"]]
    """
    Anomaly types that the pair no longer causes.
    """


class EvidenceSummary(TypedDict):
    ruleSetVersion: str | None
    """
    The version of the rules; null if the score names none.
    """
    scoredAt: str
    """
    When the score was given that the findings explain.
    """
    findings: list[FindingSummary]
    """
    What was found, that which counts most first: at most 10. The evidence has all findings.
    """


class ExportSessionsQuery(TypedDict):
    start_date: NotRequired[str | None]
    """
    Sessions that began at or after it: ISO 8601 date (UTC), or date-time with offset.
    """
    end_date: NotRequired[str | None]
    """
    Sessions that began before it: ISO 8601 date-time with offset, or a date, which means the end of that UTC day.
    """
    status: NotRequired[Literal["Active", "Closed", "Scored", "Failed"] | None]
    """
    Sessions in this status, in any case.
    """
    min_bot_score: NotRequired[float | None]
    """
    Smallest bot score, 0 to 1.
    """
    max_bot_score: NotRequired[float | None]
    """
    Largest bot score, 0 to 1.
    """
    risk_level: NotRequired[Literal["bot", "medium", "human"] | None]
    """
    The class under the current risk thresholds and the label.
    """
    detection_flag: NotRequired[str | None]
    """
    A flag that the session carries.
    """
    label: NotRequired[Literal["bot", "human", "none"] | None]
    """
    The reviewer’s verdict; `none` for sessions without one.
    """
    user_id: NotRequired[str | None]
    """
    Sessions of this LMS user.
    """
    course_id: NotRequired[str | None]
    """
    Sessions in this course.
    """
    fingerprint: NotRequired[str | None]
    """
    Sessions of this device.
    """
    origin: NotRequired[str | None]
    """
    Sessions whose first page is at this scheme://host[:port].
    """
    device_type: NotRequired[Literal["desktop", "mobile", "tablet"] | None]
    """
    Sessions on this kind of device.
    """


class ExportUserResult(TypedDict):
    exportedAt: str
    user: dict[str, object] | None
    """
    Id, name, email and address; null if no session names them.
    """
    sessions: list[dict[str, object]]
    """
    Sessions, with their events, scores, matches, verdicts and anomalies, and what the pixel said of the network. Each is a row as it is stored.
    """
    matches: list[dict[str, object]]
    """
    Matches with sessions that count as another user’s: the user was there before, or was thought to be. Each is a row as it is stored.
    """
    devices: list[dict[str, object]]
    """
    Devices that were confirmed as theirs. Each is a row as it is stored.
    """
    anomalies: list[dict[str, object]]
    """
    Anomalies about them. Each is a row as it is stored.
    """
    writing: list[dict[str, object]]
    """
    Scores of what they wrote. Each is a row as it is stored.
    """
    alerts: list[dict[str, object]]
    """
    Alerts that mention them. Each is a row as it is stored.
    """
    webhookEvents: list[dict[str, object]]
    """
    Events about them or their sessions, with the payload that webhooks report. Each is a row as it is stored.
    """
    auditEntries: list[dict[str, object]]
    """
    Entries of the audit log that mention them. Each is a row as it is stored.
    """


class ExportWebhookEventsQuery(TypedDict):
    event_type: NotRequired[
        Literal[
            "BotDetected",
            "SessionAnomaly",
            "SessionCorrelated",
            "WritingSessionScored",
            "ReportReady",
            "AlertTriggered",
            "ThresholdExceeded",
        ]
        | None
    ]
    """
    Events of this type, in any case.
    """
    session_id: NotRequired[str | None]
    """
    Events whose payload names this session.
    """
    user_id: NotRequired[str | None]
    """
    Events whose payload names this user.
    """
    start_date: NotRequired[str | None]
    """
    Events that fired at or after it: ISO 8601 date (UTC), or date-time with offset.
    """
    end_date: NotRequired[str | None]
    """
    Events that fired before it: ISO 8601 date-time with offset, or a date, which means the end of that UTC day.
    """
    sort: NotRequired[Literal["newest", "oldest"] | None]
    """
    The order: `newest` or `oldest` first. With `oldest` each event comes once and none is left out, and the last page has a `nextCursor` too, with which the walk goes on later.
    """


class Finding(TypedDict):
    flag: str
    """
    The name of the rule. `detectionFlags` has those that were found.
    """
    group: Literal["environment", "integrity", "pointer", "typing", "flow", "network", "context"]
    """
    Findings of one group support each other little.
    """
    state: Literal["found", "notFound", "notMeasured"]
    """
    `notMeasured`: the session had too little for the rule, or the rule does not apply to it.
    """
    measured: float | str | None
    """
    The value that the rule measured: a number or text.
    """
    expected: str | None
    """
    The usual range, in words.
    """
    weight: float
    """
    How much the finding counts in the score; 0 for evidence that never counts.
    """
    moments: list[str]
    """
    When it was seen, the first few moments.
    """


class FindingSummary(TypedDict):
    flag: str
    """
    The name of the rule. `detectionFlags` has those that were found.
    """
    group: Literal["environment", "integrity", "pointer", "typing", "flow", "network", "context"]
    """
    Findings of one group support each other little.
    """
    measured: float | str | None
    """
    The value that the rule measured: a number or text.
    """
    expected: str | None
    """
    The usual range, in words.
    """
    weight: float
    """
    How much the finding counts in the score; 0 for evidence that never counts.
    """


class GetAnalyticsQuery(TypedDict):
    period: NotRequired[Literal["24h", "7d", "30d", "90d"] | None]
    """
    The window that ends now. `24h` cannot be grouped by week.
    """
    group_by: NotRequired[Literal["hour", "day", "week"] | None]
    """
    Size of a bucket of the time series, in UTC; weeks begin on Monday.
    """


class GetUsageQuery(TypedDict):
    start_date: NotRequired[str | None]
    """
    The first of the whole UTC days that count is that of it: ISO 8601 date (UTC), or date-time with offset.
    """
    end_date: NotRequired[str | None]
    """
    The last of the whole UTC days that count is that of it: ISO 8601 date (UTC), or date-time with offset; at midnight, the day before.
    """


class Health(TypedDict):
    status: str
    version: str
    timestamp: str


class Integration(TypedDict):
    id: str
    name: str
    plan: Literal["free", "starter", "pro", "enterprise"]
    serviceTier: Literal["free", "pro", "enterprise"]
    """
    The tier of the rate limits and page caps.
    """
    region: Literal["us", "eu"]
    status: Literal["Active"]
    allowedOrigins: list[str]
    apiKeyMasked: str
    """
    The calling key, masked.
    """
    apiKeyScopes: list[Literal["read", "sessions:write", "webhooks:write", "settings:write", "users:erase"]]
    """
    What the calling key may do.
    """
    webhooks: IntegrationWebhooks
    """
    Active subscriptions and the plan’s cap.
    """
    createdAt: str


class IntegrationWebhooks(TypedDict):
    """
    Active subscriptions and the plan’s cap.
    """

    active: int
    max: int


class Label(TypedDict):
    verdict: Literal["bot", "human"]
    confidence: Literal["high", "medium", "low"] | None
    """
    How sure the reviewer was; null when not said.
    """
    notes: str | None
    labeledAt: str


class LabelSessionRequest(TypedDict):
    verdict: Literal["bot", "human"]
    """
    What the session was, in any case.
    """
    confidence: NotRequired[Literal["high", "medium", "low"] | None]
    """
    How sure the reviewer is.
    """
    notes: NotRequired[str | None]
    """
    Free text, at most 1000 characters.
    """


class ListAuditEntriesQuery(TypedDict):
    cursor: NotRequired[str | None]
    """
    Opaque token from `pagination.nextCursor` of the page before; omit it on the first request. It is valid only with the filters it was issued under.
    """
    page_size: NotRequired[int | None]
    """
    Items a page, 1 to 100; clamped to the cap of the tier.
    """


class ListCoursesQuery(TypedDict):
    cursor: NotRequired[str | None]
    """
    Opaque token from `pagination.nextCursor` of the page before; omit it on the first request. It is valid only with the filters it was issued under.
    """
    page_size: NotRequired[int | None]
    """
    Items a page, 1 to 100; clamped to the cap of the tier.
    """


class ListSessionEventsQuery(TypedDict):
    cursor: NotRequired[str | None]
    """
    Opaque token from `pagination.nextCursor` of the page before; omit it on the first request. It is valid only with the filters it was issued under.
    """
    page_size: NotRequired[int | None]
    """
    Items a page, 1 to 100; clamped to the cap of the tier.
    """


class ListSessionsQuery(TypedDict):
    cursor: NotRequired[str | None]
    """
    Opaque token from `pagination.nextCursor` of the page before; omit it on the first request. It is valid only with the filters it was issued under.
    """
    page_size: NotRequired[int | None]
    """
    Items a page, 1 to 100; clamped to the cap of the tier.
    """
    start_date: NotRequired[str | None]
    """
    Sessions that began at or after it: ISO 8601 date (UTC), or date-time with offset.
    """
    end_date: NotRequired[str | None]
    """
    Sessions that began before it: ISO 8601 date-time with offset, or a date, which means the end of that UTC day.
    """
    status: NotRequired[Literal["Active", "Closed", "Scored", "Failed"] | None]
    """
    Sessions in this status, in any case.
    """
    min_bot_score: NotRequired[float | None]
    """
    Smallest bot score, 0 to 1.
    """
    max_bot_score: NotRequired[float | None]
    """
    Largest bot score, 0 to 1.
    """
    risk_level: NotRequired[Literal["bot", "medium", "human"] | None]
    """
    The class under the current risk thresholds and the label.
    """
    detection_flag: NotRequired[str | None]
    """
    A flag that the session carries.
    """
    label: NotRequired[Literal["bot", "human", "none"] | None]
    """
    The reviewer’s verdict; `none` for sessions without one.
    """
    user_id: NotRequired[str | None]
    """
    Sessions of this LMS user.
    """
    course_id: NotRequired[str | None]
    """
    Sessions in this course.
    """
    fingerprint: NotRequired[str | None]
    """
    Sessions of this device.
    """
    origin: NotRequired[str | None]
    """
    Sessions whose first page is at this scheme://host[:port].
    """
    device_type: NotRequired[Literal["desktop", "mobile", "tablet"] | None]
    """
    Sessions on this kind of device.
    """


class ListUserSessionsQuery(TypedDict):
    cursor: NotRequired[str | None]
    """
    Opaque token from `pagination.nextCursor` of the page before; omit it on the first request. It is valid only with the filters it was issued under.
    """
    page_size: NotRequired[int | None]
    """
    Items a page, 1 to 100; clamped to the cap of the tier.
    """


class ListUsersQuery(TypedDict):
    cursor: NotRequired[str | None]
    """
    Opaque token from `pagination.nextCursor` of the page before; omit it on the first request. It is valid only with the filters it was issued under.
    """
    page_size: NotRequired[int | None]
    """
    Items a page, 1 to 100; clamped to the cap of the tier.
    """


class ListWebhookDeliveriesQuery(TypedDict):
    status: NotRequired[
        Literal["Pending", "Delivered", "Failed", "MaxRetriesExceeded", "PermanentFailure", "PoisonAborted"] | None
    ]
    """
    Deliveries in this status, in any case.
    """
    start_date: NotRequired[str | None]
    """
    Events that fired at or after it: ISO 8601 date (UTC), or date-time with offset.
    """
    end_date: NotRequired[str | None]
    """
    Events that fired before it: ISO 8601 date-time with offset, or a date, which means the end of that UTC day.
    """
    sort: NotRequired[Literal["newest", "oldest"] | None]
    """
    The order by the time of the event: `newest` or `oldest` first.
    """
    cursor: NotRequired[str | None]
    """
    Opaque token from `pagination.nextCursor` of the page before; omit it on the first request. It is valid only with the filters it was issued under.
    """
    page_size: NotRequired[int | None]
    """
    Items a page, 1 to 100; clamped to the cap of the tier.
    """


class ListWebhookEventsQuery(TypedDict):
    event_type: NotRequired[
        Literal[
            "BotDetected",
            "SessionAnomaly",
            "SessionCorrelated",
            "WritingSessionScored",
            "ReportReady",
            "AlertTriggered",
            "ThresholdExceeded",
        ]
        | None
    ]
    """
    Events of this type, in any case.
    """
    session_id: NotRequired[str | None]
    """
    Events whose payload names this session.
    """
    user_id: NotRequired[str | None]
    """
    Events whose payload names this user.
    """
    start_date: NotRequired[str | None]
    """
    Events that fired at or after it: ISO 8601 date (UTC), or date-time with offset.
    """
    end_date: NotRequired[str | None]
    """
    Events that fired before it: ISO 8601 date-time with offset, or a date, which means the end of that UTC day.
    """
    sort: NotRequired[Literal["newest", "oldest"] | None]
    """
    The order: `newest` or `oldest` first. With `oldest` each event comes once and none is left out, and the last page has a `nextCursor` too, with which the walk goes on later.
    """
    cursor: NotRequired[str | None]
    """
    Opaque token from `pagination.nextCursor` of the page before; omit it on the first request. It is valid only with the filters it was issued under.
    """
    page_size: NotRequired[int | None]
    """
    Items a page, 1 to 100; clamped to the cap of the tier.
    """


class RecoverWebhookDeliveriesRequest(TypedDict):
    start_date: str
    """
    Events that fired at or after it: ISO 8601 date (UTC), or date-time with offset.
    """
    end_date: NotRequired[str]
    """
    Events that fired before it: ISO 8601 date-time with offset, or a date, which means the end of that UTC day.
    """
    include_skipped: NotRequired[bool]
    """
    Also send the events that were skipped only because the subscription was disabled, at most 1,000.
    """


class RecoveredDeliveries(TypedDict):
    recovered: int
    """
    Failed deliveries that are sent again, each under its own id.
    """
    skippedSent: int
    """
    Skipped events that are sent, each as a new delivery.
    """
    hasMore: bool
    """
    Whether skipped events may be left: send the same request again.
    """


class ReportReadyPayload(TypedDict):
    reportId: str
    reportName: str
    templateId: str
    format: Literal["csv", "pdf", "json"]
    recordCount: int | None
    fileSize: int | None
    """
    Bytes.
    """
    completedAt: str
    expiresAt: str | None
    downloadUrl: str
    """
    A relative path, to be prefixed with the region’s dashboard API host.
    """


class RiskThresholds(TypedDict):
    mediumAt: int
    """
    Hundredths of the score from which a session is `medium`, 0 to 100.
    """
    botAt: int
    """
    Hundredths of the score from which it is a `bot`: at least 5 above mediumAt.
    """


class RotateWebhookSecretRequest(TypedDict):
    grace_period_seconds: NotRequired[int]
    """
    For so long, deliveries also carry the signature of the old secret, in `X-Webhook-Signature-Previous`.
    """


class RotatedSecret(TypedDict):
    id: str
    secret: str
    """
    The signing secret: shown in this answer and never again.
    """
    rotatedAt: str


class Session(TypedDict):
    id: str
    createdAt: str
    """
    When the session began.
    """
    updatedAt: str | None
    """
    When a fact or a label last changed it.
    """
    status: Literal["Active", "Closed", "Scored", "Failed"]
    """
    `Active`, then `Closed`, then `Scored`; `Failed` when scoring gave up.
    """
    botScore: float | None
    """
    Likelihood of a bot, 0 to 1; null before scoring.
    """
    detectionFlags: list[str]
    """
    What the scoring pipeline noticed.
    """
    pageUrl: str
    """
    The first page.
    """
    userAgentSummary: str
    userId: str | None
    """
    The correlated LMS user; null until correlated.
    """
    userName: str | None
    userUrl: str | None
    riskLevel: Literal["bot", "medium", "human"] | None
    """
    The class under the integration’s risk thresholds and the label; null before scoring.
    """
    label: Label | None
    """
    The reviewer’s verdict, which overrides the score.
    """
    courseId: str | None
    deviceFingerprint: str | None
    deviceType: Literal["desktop", "mobile", "tablet"]
    browser: str
    """
    One of the well-known names; `Other` for any other browser.
    """
    origin: str
    """
    scheme://host[:port] of the first page.
    """
    country: str | None
    correlationConfidence: float | None
    """
    0 to 1; null until correlated.
    """


class SessionAnomalyPayload(TypedDict):
    anomalyId: str
    anomalyType: str
    severity: Literal["low", "medium", "high"]
    detectedAt: str
    sessionId: str | None
    userId: str | None
    metadata: dict[str, object] | None
    """
    Free-form. For SharedDevice the device fingerprint is cut to 8 characters.
    """


class SessionCorrelatedPayload(TypedDict):
    sessionId: str
    userId: str
    correlationConfidence: float
    correlatedAt: str
    contextId: str | None


class SessionDetails(TypedDict):
    sessionId: str
    startTime: str
    endTime: str
    """
    When it was closed; before that its last event, or its start.
    """
    durationSeconds: float
    """
    Seconds from startTime to endTime.
    """
    eventCounts: SessionDetailsEventCounts
    timeline: list[SessionDetailsTimelineItem]
    """
    Stretches of equal length, a sixtieth of the session but at least one second, without gaps.
    """
    pageHistory: list[SessionDetailsPageHistoryItem]
    """
    The first page, then the navigations: the first 500 pages. The events have all of them.
    """
    evidence: EvidenceSummary | None
    """
    Why the session has its score, in short; null if the latest score brought no evidence, and before scoring.
    """


class SessionDetailsEventCounts(TypedDict):
    total: int
    """
    Events of every type.
    """
    mouse: int
    scroll: int
    keyboard: int
    touch: int
    form: int


class SessionDetailsPageHistoryItem(TypedDict):
    url: str
    timestamp: str
    type: Literal["load", "navigation"]
    durationMs: int | None
    """
    Milliseconds; null where unknown.
    """


class SessionDetailsTimelineItem(TypedDict):
    timestamp: str
    """
    Start of the stretch.
    """
    eventCount: int
    dominantEventType: Literal[
        "mouse", "scroll", "keyboard", "touch", "form", "navigation", "visibility", "clipboard", "none"
    ]
    """
    The type with the most events; `none` where there are none.
    """
    activityLevel: float
    """
    Share of the busiest stretch, 0 to 1.
    """


class SessionEvent(TypedDict):
    id: str
    sessionId: str
    sequence: int
    """
    Its place in the session.
    """
    type: Literal["mouse", "scroll", "keyboard", "touch", "form", "navigation", "visibility", "clipboard"]
    timestamp: str
    url: str | None
    durationMs: int | None
    """
    Milliseconds.
    """
    eventCount: int
    """
    How many single events it stands for.
    """
    metadata: dict[str, object] | None
    """
    Free-form.
    """


class SessionEvidence(TypedDict):
    sessionId: str
    botScore: float | None
    """
    The latest score; null before scoring.
    """
    ruleSetVersion: str | None
    """
    The version of the rules; null if the score names none.
    """
    scoredAt: str | None
    findings: list[Finding]
    """
    What the rules say, those that count most first. Empty if the score has none.
    """
    scores: list[SessionEvidenceScore]
    """
    The scores of the session, oldest first: the latest 500.
    """


class SessionEvidenceScore(TypedDict):
    scoredAt: str
    botScore: float
    detectionFlags: list[str]


class SessionLabel(TypedDict):
    sessionId: str
    verdict: Literal["bot", "human"]
    confidence: Literal["high", "medium", "low"] | None
    """
    How sure the reviewer was; null when not said.
    """
    notes: str | None
    labeledAt: str


class Stats(TypedDict):
    totalSessions: int
    activeSessions: int
    """
    Sessions in the status `Active`.
    """
    sessionsLast24h: int
    """
    Sessions that began within the last 24 hours.
    """
    totalEvents: int
    totalUsers: int
    """
    Correlated users.
    """
    totalCourses: int
    matchedSessions: int
    unmatchedSessions: int
    botSessions: int
    """
    Sessions of the risk class `bot`.
    """
    averageBotScore: float | None
    """
    Mean over the scored sessions, 0 to 1.
    """
    anomalies: int
    labeledBot: int
    labeledHuman: int
    confirmedDevices: int
    activeWebhooks: int
    lastSessionAt: str | None
    """
    Start of the latest session.
    """
    generatedAt: str


class TestDeliveryPayload(TypedDict):
    eventType: Literal[
        "BotDetected",
        "SessionAnomaly",
        "SessionCorrelated",
        "WritingSessionScored",
        "ReportReady",
        "AlertTriggered",
        "ThresholdExceeded",
    ]
    """
    The subscription’s own event type.
    """
    integrationId: str
    timestamp: str
    data: TestDeliveryPayloadData


class TestDeliveryPayloadData(TypedDict):
    test: bool
    message: str
    subscriptionId: str
    deliveryId: str


class Threshold(TypedDict):
    field: str
    operator: Literal["gte", "gt", "lte", "lt", "eq", "neq", "in"]
    value: str | float | bool | list[object]


class ThresholdExceededPayload(TypedDict):
    metric: str
    value: float
    threshold: float
    occurredAt: str
    reason: str | None


class ThresholdInput(TypedDict):
    field: str
    """
    Dot-separated path into the payload, for example `metadata.otherUserCount`.
    """
    operator: Literal["gte", "gt", "lte", "lt", "eq", "neq", "in"]
    value: str | float | bool | list[object]
    """
    A number or numeric string for gte, gt, lte and lt; a scalar for eq and neq; an array of scalars for in.
    """


class UpdateRiskThresholdsRequest(TypedDict):
    medium_at: int
    """
    Hundredths of the score from which a session is `medium`, 0 to 100.
    """
    bot_at: int
    """
    Hundredths of the score from which it is a `bot`: at least 5 above mediumAt.
    """


class UpdateWebhookRequest(TypedDict):
    url: NotRequired[str]
    """
    http or https, port 80 or 443, at most 2048 characters, no private address.
    """
    event_type: NotRequired[
        Literal[
            "BotDetected",
            "SessionAnomaly",
            "SessionCorrelated",
            "WritingSessionScored",
            "ReportReady",
            "AlertTriggered",
            "ThresholdExceeded",
        ]
    ]
    """
    One of the event types, in any case.
    """
    threshold: NotRequired[ThresholdInput | None]
    """
    Null removes it.
    """
    name: NotRequired[str]
    enabled: NotRequired[bool]


class Usage(TypedDict):
    startDate: str
    """
    Start of the first UTC day that counts.
    """
    endDate: str
    totalRequests: int
    """
    Requests with a valid key, those over the rate limit included.
    """
    successfulRequests: int
    clientErrors: int
    """
    Answers 400 to 499, those over the rate limit included.
    """
    serverErrors: int
    rateLimitedRequests: int
    byEndpoint: list[UsageByEndpointItem]
    """
    The most used first.
    """
    timeSeries: list[UsageTimeSery]
    """
    Every day of the range, also those without requests.
    """
    webhookDeliveries: UsageWebhookDeliveries
    """
    Deliveries that ended in the range, tests aside.
    """
    limits: UsageLimits


class UsageByEndpointItem(TypedDict):
    method: str
    path: str
    """
    As documented; `(unmatched)` for unknown routes.
    """
    requests: int
    errors: int


class UsageLimits(TypedDict):
    tier: Literal["free", "pro", "enterprise"]
    requestsPerMinute: int
    """
    Of a key that is sent as `Authorization: Bearer`.
    """


class UsageTimeSery(TypedDict):
    timestamp: str
    """
    Start of the UTC day.
    """
    requests: int
    errors: int
    rateLimited: int


class UsageWebhookDeliveries(TypedDict):
    """
    Deliveries that ended in the range, tests aside.
    """

    delivered: int
    failed: int


class User(TypedDict):
    id: str
    name: str
    email: str | None
    url: str | None
    sessionCount: int
    botSessionCount: int
    """
    Sessions of the risk class `bot`.
    """
    averageBotScore: float | None
    """
    Mean over the scored sessions, 0 to 1.
    """
    maxBotScore: float | None
    riskLevel: Literal["bot", "medium", "human"] | None
    """
    The riskiest class among the sessions; null when none is scored or labelled.
    """
    deviceCount: int
    """
    Different device fingerprints.
    """
    confirmedDeviceCount: int
    anomalyCount: int
    correlationConfidence: float | None
    """
    Mean over the sessions, 0 to 1.
    """
    firstSeenAt: str
    """
    Start of the first session.
    """
    lastSeenAt: str
    """
    Start of the latest session.
    """


class UserErasure(TypedDict):
    id: str
    status: Literal["Running", "Completed"]
    requestedAt: str
    completedAt: str | None
    refusedUntil: str
    """
    Until then, facts about the user are refused.
    """
    sessionCount: int
    """
    Sessions that no longer name the user. They stay counted.
    """
    traceCount: int
    """
    Recordings of sessions that were removed.
    """
    eventCount: int
    """
    Webhook events whose payload was replaced.
    """
    deliveryCount: int
    """
    Deliveries of them that were pending and were ended.
    """
    reportCount: int
    """
    Reports that were removed.
    """
    textCount: int
    """
    Other rows in which something was replaced.
    """


class Webhook(TypedDict):
    id: str
    url: str
    eventType: Literal[
        "BotDetected",
        "SessionAnomaly",
        "SessionCorrelated",
        "WritingSessionScored",
        "ReportReady",
        "AlertTriggered",
        "ThresholdExceeded",
    ]
    threshold: Threshold | None
    """
    Events whose payload fails it are skipped; null for none.
    """
    name: str
    enabled: bool
    createdAt: str
    lastDeliveryAt: str | None
    """
    End of the latest attempt; null before the first.
    """
    lastDeliveryStatus: (
        Literal["Pending", "Delivered", "Failed", "MaxRetriesExceeded", "PermanentFailure", "PoisonAborted"] | None
    )
    """
    `Pending` while the latest delivery will be retried; null before the first attempt.
    """
    disabledReason: str | None
    """
    `auto:consecutive-failures` or `auto:plan-limit` when the service disabled it.
    """
    disabledFailureClass: str | None
    """
    `5xx`, `4xx`, `Timeout`, `RateLimited`, `BlockedSsrf`, `Network` or `HTTP{status}` of the delivery that disabled it.
    """


class WebhookAttempt(TypedDict):
    resend: int
    """
    After how many resends by hand it was made.
    """
    attempt: int
    """
    Counts from 1.
    """
    startedAt: str
    durationMs: int
    httpStatus: int | None
    failureClass: str | None
    address: str | None
    """
    The address that was contacted, or refused.
    """
    retryAfter: str | None
    """
    What the receiver asked for; the schedule does not follow it.
    """
    errorCode: str | None
    """
    What went wrong: the code of Node’s error, or one of ours. Null if it was delivered, or is older.
    """


class WebhookDelivery(TypedDict):
    id: str
    subscriptionId: str
    eventId: str | None
    """
    Null for a test delivery.
    """
    eventType: Literal[
        "BotDetected",
        "SessionAnomaly",
        "SessionCorrelated",
        "WritingSessionScored",
        "ReportReady",
        "AlertTriggered",
        "ThresholdExceeded",
    ]
    test: bool
    status: Literal["Pending", "Delivered", "Failed", "MaxRetriesExceeded", "PermanentFailure", "PoisonAborted"]
    failureClass: str | None
    """
    Of the latest attempt; null when it was delivered or never made.
    """
    attempts: int
    """
    Attempts begun since the delivery was made or last sent again by hand.
    """
    resends: int
    """
    How often it was sent again by hand.
    """
    createdAt: str
    """
    When its event fired.
    """
    nextAttemptAt: str | None
    """
    When the next attempt is due; null when there is none or one is under way.
    """
    finishedAt: str | None


class WebhookDeliveryDetails(TypedDict):
    id: str
    subscriptionId: str
    eventId: str | None
    """
    Null for a test delivery.
    """
    eventType: Literal[
        "BotDetected",
        "SessionAnomaly",
        "SessionCorrelated",
        "WritingSessionScored",
        "ReportReady",
        "AlertTriggered",
        "ThresholdExceeded",
    ]
    test: bool
    status: Literal["Pending", "Delivered", "Failed", "MaxRetriesExceeded", "PermanentFailure", "PoisonAborted"]
    failureClass: str | None
    """
    Of the latest attempt; null when it was delivered or never made.
    """
    attempts: int
    """
    Attempts begun since the delivery was made or last sent again by hand.
    """
    resends: int
    """
    How often it was sent again by hand.
    """
    createdAt: str
    """
    When its event fired.
    """
    nextAttemptAt: str | None
    """
    When the next attempt is due; null when there is none or one is under way.
    """
    finishedAt: str | None
    payload: str | None
    """
    The body, byte by byte: JSON as text; `{"erased":true}` if the event names a user who was erased. Null for a test delivery.
    """
    attemptLog: list[WebhookAttempt]
    """
    All attempts, oldest first.
    """


class WebhookEvent(TypedDict):
    id: str
    eventType: Literal[
        "BotDetected",
        "SessionAnomaly",
        "SessionCorrelated",
        "WritingSessionScored",
        "ReportReady",
        "AlertTriggered",
        "ThresholdExceeded",
    ]
    createdAt: str
    """
    When it fired.
    """
    payload: str
    """
    The body of its deliveries, byte by byte: JSON as text; `{"erased":true}` if it names a user who was erased.
    """
    outcomes: list[WebhookEventOutcome]
    """
    One for each subscription of its type that existed when it fired, by subscription id.
    """


class WebhookEventOutcome(TypedDict):
    subscriptionId: str
    outcome: Literal["delivered", "pending", "failed", "skipped"]
    reason: Literal["threshold", "disabled", "plan"] | None
    """
    Why it was skipped when it fired: its payload failed the `threshold`; else the `plan` forbade the subscription; else it was `disabled`. Null unless it was skipped.
    """
    deliveryId: str | None
    """
    Null if it was skipped, and when the delivery log no longer shows the delivery.
    """
    status: Literal["Pending", "Delivered", "Failed", "MaxRetriesExceeded", "PermanentFailure", "PoisonAborted"] | None
    """
    Of the delivery; null if it was skipped.
    """


class WebhookTestResult(TypedDict):
    deliveryId: str
    status: Literal["Pending", "Delivered", "Failed", "MaxRetriesExceeded", "PermanentFailure", "PoisonAborted"]
    responseCode: int
    """
    The receiver’s status; 0 when nothing answered.
    """
    errorClass: str | None
    """
    Why it failed, as in `disabledFailureClass`; null when it was delivered.
    """
    attempts: int
    """
    Attempts that were made: a test does not retry.
    """


class WebhookWithSecret(TypedDict):
    id: str
    url: str
    eventType: Literal[
        "BotDetected",
        "SessionAnomaly",
        "SessionCorrelated",
        "WritingSessionScored",
        "ReportReady",
        "AlertTriggered",
        "ThresholdExceeded",
    ]
    threshold: Threshold | None
    """
    Events whose payload fails it are skipped; null for none.
    """
    name: str
    enabled: bool
    createdAt: str
    lastDeliveryAt: str | None
    """
    End of the latest attempt; null before the first.
    """
    lastDeliveryStatus: (
        Literal["Pending", "Delivered", "Failed", "MaxRetriesExceeded", "PermanentFailure", "PoisonAborted"] | None
    )
    """
    `Pending` while the latest delivery will be retried; null before the first attempt.
    """
    disabledReason: str | None
    """
    `auto:consecutive-failures` or `auto:plan-limit` when the service disabled it.
    """
    disabledFailureClass: str | None
    """
    `5xx`, `4xx`, `Timeout`, `RateLimited`, `BlockedSsrf`, `Network` or `HTTP{status}` of the delivery that disabled it.
    """
    secret: str
    """
    The signing secret: shown in this answer and never again.
    """


class WritingSessionScoredPayload(TypedDict):
    sessionId: str
    aiScore: float
    scoredAt: str
    userId: str | None
    documentId: str | None
    wordCount: int | None
