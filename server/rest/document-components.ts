import { ERROR_CODES, type ErrorCode } from '../../contract/errors';
import { TIER_NAMES } from '../../contract/tiers';

/** The groups of operations, in the order of the document. */
export const TAGS = [
  { name: 'Sessions', description: 'Browsing sessions: how they were scored, what happened in them, their labels.' },
  { name: 'Users', description: 'The LMS users that sessions are correlated with, and their devices.' },
  { name: 'Courses', description: 'The courses that URLs of sessions name.' },
  { name: 'Analytics', description: 'Detections over time, and their summary.' },
  { name: 'Stats', description: 'Counters of the whole integration.' },
  { name: 'Usage', description: 'The integration’s own use of this API.' },
  { name: 'Webhooks', description: 'Subscriptions to events.' },
  { name: 'Events', description: 'What the service sends to the URLs of subscriptions.' },
  { name: 'Audit log', description: 'Who changed the integration.' },
  { name: 'Exports', description: 'Lists as files, written while they are read.' },
  { name: 'Risk thresholds', description: 'The scores from which a session counts as medium or bot.' },
  { name: 'Self', description: 'The integration of the calling key.' },
  { name: 'Health', description: 'Whether the service answers.' },
];

/** The error envelope. Further fields may come, as in every answer. */
export const ERROR_SCHEMAS = {
  Error: {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: {
          code: {
            type: 'string',
            description: 'A stable identifier; new ones may be added.',
            examples: Object.keys(ERROR_CODES),
          },
          message: { type: 'string', description: 'Text for people; not stable.' },
          details: {
            description: 'Names the offending field of a validation error; null for every other.',
            anyOf: [{ $ref: '#/components/schemas/ErrorDetails' }, { type: 'null' }],
          },
        },
        required: ['code', 'message', 'details'],
        additionalProperties: true,
      },
    },
    required: ['error'],
    additionalProperties: true,
  },
  ErrorDetails: {
    type: 'object',
    properties: { field: { type: 'string' } },
    required: ['field'],
    additionalProperties: true,
  },
};

/** Returns an example of the error envelope with a code. */
export function makeErrorExample(code: ErrorCode) {
  const details = ERROR_CODES[code].hasField ? { field: EXAMPLE_FIELDS[code] ?? 'body' } : null;
  return { error: { code, message: ERROR_CODES[code].description, details } };
}

const EXAMPLE_FIELDS: Partial<Record<ErrorCode, string>> = {
  INVALID_REQUEST: 'pageSize',
  INVALID_BODY: 'enabled',
  INVALID_URL: 'url',
  INVALID_EVENT_TYPE: 'eventType',
};

const header = (description: string, schema: object, example: string | number) => ({ description, schema, example });

/** The header with which a POST is safe to repeat. */
export const IDEMPOTENCY_PARAMETER = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes the request safe to repeat for 24 hours: a repeat with the same body has no effect and gets the first answer, without its secret. 1 to 255 printable ASCII characters, such as a UUID.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[ -~]{1,255}$' },
};

/** The response headers, by name. */
export const RESPONSE_HEADERS = {
  'x-service-tier': header(
    'The tier of the calling key. Absent from a 401, and from a 500 or 503 that came before the key was known.',
    { type: 'string', enum: TIER_NAMES },
    'pro',
  ),
  'x-request-id': header('Names the request in our logs.', { type: 'string' }, 'req_019a5e3c7d4b5c9d2e1f0a6b7c8d9e0f'),
  'Idempotent-Replayed': header(
    '`true` if this is the answer of an earlier request with the same `Idempotency-Key`. A secret in it is empty.',
    { type: 'string' },
    'true',
  ),
  RateLimit: header(
    'What remains of the window, and the seconds until the next.',
    { type: 'string' },
    '"key";r=599;t=42',
  ),
  'RateLimit-Policy': header('The quota of a window of 60 seconds.', { type: 'string' }, '"key";q=600;w=60'),
  'Retry-After': header('Whole seconds after which to try again.', { type: 'integer', minimum: 1 }, 42),
  'WWW-Authenticate': header('The scheme that is expected.', { type: 'string' }, 'Bearer'),
};
