import { z } from 'zod';
import { freeObject, idText } from './fields';

const timestamp = () => z.string().meta({ type: 'string', format: 'date-time' });
const unitInterval = () => z.number().min(0).max(1).meta({ type: 'number', format: 'double' });
const integer = () => z.number().meta({ type: 'integer' });
/** Without a format, clients in Go and Java take a whole number for one of 32 bits, and a decimal one for a single. */
const int64 = () => z.number().meta({ type: 'integer', format: 'int64' });
const double = () => z.number().meta({ type: 'number', format: 'double' });
const text = () => z.string();

export const SEVERITIES = ['low', 'medium', 'high'] as const;
export type Severity = (typeof SEVERITIES)[number];

export const REPORT_FORMATS = ['csv', 'pdf', 'json'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

interface EventDefinition {
  description: string;
  payload: z.ZodObject;
  /** A payload as customers receive it. Used by the OpenAPI document and tests. */
  sample: Record<string, unknown>;
}

/** The event types (specification: Events): when each fires, its flat payload, and a sample. */
export const EVENTS = {
  BotDetected: {
    description: 'A scored session crosses the bot threshold at session close.',
    payload: z.object({
      sessionId: idText(),
      botScore: unitInterval(),
      scoredAt: timestamp(),
      userId: text().nullable(),
      contextId: text().nullable().describe('The course, where the session’s URL names one.'),
      sessionUrl: text().nullable().describe('Link to the session in the dashboard.'),
    }),
    sample: {
      sessionId: 'ses_5Hk2mQ',
      botScore: 0.93,
      scoredAt: '2026-01-31T09:34:10.000Z',
      userId: null,
      contextId: '9f2c1b7de0a84c55',
      sessionUrl: null,
    },
  },
  SessionAnomaly: {
    description:
      'The correlation pipeline writes an anomaly record (DeviceSwitch, ImpossibleTravel, SharedDevice and others).',
    payload: z.object({
      anomalyId: text(),
      anomalyType: text(),
      severity: z.enum(SEVERITIES),
      detectedAt: timestamp(),
      sessionId: text().nullable(),
      userId: text().nullable(),
      metadata: freeObject()
        .nullable()
        .describe('Free-form. For SharedDevice the device fingerprint is cut to 8 characters.'),
    }),
    sample: {
      anomalyId: 'ano_71c0',
      anomalyType: 'SharedDevice',
      severity: 'high',
      detectedAt: '2026-01-31T09:40:00.000Z',
      sessionId: 'ses_5Hk2mQ',
      userId: 'lms-4711',
      metadata: { deviceFingerprint: '4be81f0c', otherUserCount: 3 },
    },
  },
  SessionCorrelated: {
    description: 'A pixel session is matched to an LMS user with confidence.',
    payload: z.object({
      sessionId: text(),
      userId: text(),
      correlationConfidence: unitInterval(),
      correlatedAt: timestamp(),
      contextId: text().nullable(),
    }),
    sample: {
      sessionId: 'ses_5Hk2mQ',
      userId: 'lms-4711',
      correlationConfidence: 0.97,
      correlatedAt: '2026-01-31T09:31:00.000Z',
      contextId: '9f2c1b7de0a84c55',
    },
  },
  WritingSessionScored: {
    description: 'A writing session closes with an AI-content score.',
    payload: z.object({
      sessionId: text(),
      aiScore: unitInterval(),
      scoredAt: timestamp(),
      userId: text().nullable(),
      documentId: text().nullable(),
      wordCount: integer().nullable(),
    }),
    sample: {
      sessionId: 'wri_88',
      aiScore: 0.81,
      scoredAt: '2026-01-31T11:02:00.000Z',
      userId: 'lms-4711',
      documentId: 'essay-3',
      wordCount: 1240,
    },
  },
  ReportReady: {
    description: 'A report becomes Ready and has a download URL.',
    payload: z.object({
      reportId: text(),
      reportName: text(),
      templateId: text(),
      format: z.enum(REPORT_FORMATS),
      recordCount: integer().nullable(),
      fileSize: int64().nullable().describe('Bytes.'),
      completedAt: timestamp(),
      expiresAt: timestamp().nullable(),
      downloadUrl: text().describe('A relative path, to be prefixed with the region’s dashboard API host.'),
    }),
    sample: {
      reportId: 'rep_12',
      reportName: 'Weekly bots',
      templateId: 'weekly',
      format: 'csv',
      recordCount: 240,
      fileSize: 18_432,
      completedAt: '2026-02-01T00:05:00.000Z',
      expiresAt: '2026-03-01T00:05:00.000Z',
      downloadUrl: '/reports/rep_12/download',
    },
  },
  AlertTriggered: {
    description: 'A configured alert rule fires within its time window.',
    payload: z.object({
      alertId: text(),
      severity: text().describe('Lowercase.'),
      message: text(),
      triggeredAt: timestamp(),
      alertUrl: text().nullable(),
    }),
    sample: {
      alertId: 'alr_7',
      severity: 'high',
      message: '25 bot sessions within 10 minutes',
      triggeredAt: '2026-01-31T10:00:00.000Z',
      alertUrl: null,
    },
  },
  ThresholdExceeded: {
    description: 'A metric crosses a customer-defined threshold (reserved; not yet emitted).',
    payload: z.object({
      metric: text(),
      value: double(),
      threshold: double(),
      occurredAt: timestamp(),
      reason: text().nullable(),
    }),
    sample: {
      metric: 'botRate',
      value: 0.31,
      threshold: 0.25,
      occurredAt: '2026-01-31T10:00:00.000Z',
      reason: null,
    },
  },
} as const satisfies Record<string, EventDefinition>;

export type EventTypeName = keyof typeof EVENTS;
export const EVENT_TYPE_NAMES = Object.keys(EVENTS) as [EventTypeName, ...EventTypeName[]];
export type EventPayload<T extends EventTypeName> = z.infer<(typeof EVENTS)[T]['payload']>;

const NAME_BY_LOWER_CASE = new Map(EVENT_TYPE_NAMES.map((name) => [name.toLowerCase(), name]));
/** Finds an event type by its name in any case. */
export const findEventType = (name: string) => NAME_BY_LOWER_CASE.get(name.toLowerCase()) ?? null;
