import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { updateRiskThresholdsInput } from '../../contract/risk-thresholds';
import { listSessionsInput } from '../../contract/sessions';
import { confirmDeviceInput } from '../../contract/users';
import { createWebhookInput, updateWebhookInput } from '../../contract/webhooks';
import { ingestInput } from '../../server/pipeline/facts';
// Installs the messages that all procedures use.
import '../../server/procedures/trpc';

const webhook = { url: 'https://example.com/', eventType: 'BotDetected' };
const threshold = { field: 'botScore', operator: 'gte', value: 0.9 };
const fact = {
  kind: 'sessionScored',
  sessionId: 's',
  botScore: 1,
  detectionFlags: [],
  scoredAt: '2026-01-31T09:30:00Z',
};

/** Returns the first message, without the field's name. */
function refusalOf(schema: z.ZodType, input: unknown): string {
  const issue = schema.safeParse(input).error?.issues[0];
  return issue ? `${issue.path.join('.')} ${issue.message}` : 'none';
}

describe('an invalid input', () => {
  it.each<[z.ZodType, unknown, string]>([
    [updateRiskThresholdsInput, { mediumAt: 40 }, 'botAt is required'],
    [updateRiskThresholdsInput, { mediumAt: '40', botAt: 70 }, 'mediumAt must be a whole number'],
    [updateRiskThresholdsInput, { mediumAt: 40, botAt: 70.5 }, 'botAt must be a whole number'],
    [listSessionsInput, { pageSize: 'x' }, 'pageSize must be a number'],
    [listSessionsInput, { minBotScore: Number.POSITIVE_INFINITY }, 'minBotScore must be a number'],
    [createWebhookInput, {}, 'url is required'],
    [createWebhookInput, { ...webhook, url: 5 }, 'url must be a string'],
    [createWebhookInput, { ...webhook, enabled: 'false' }, 'enabled must be true or false'],
    [createWebhookInput, { ...webhook, threshold: [] }, 'threshold must be an object'],
    [createWebhookInput, { ...webhook, threshold: {} }, 'threshold.field is required'],
    [createWebhookInput, { ...webhook, threshold: { ...threshold, value: undefined } }, 'threshold.value is required'],
    [
      createWebhookInput,
      { ...webhook, threshold: { ...threshold, value: {} } },
      'threshold.value must be a scalar or an array of scalars',
    ],
    [updateWebhookInput, { id: 'x', name: null }, 'name must be a string'],
    [confirmDeviceInput, { userId: 'u', fingerprint: 'f', notes: [] }, 'notes must be a string'],
    [ingestInput, {}, 'integrationId is required'],
    [ingestInput, { integrationId: 'i', facts: {} }, 'facts must be an array'],
    [ingestInput, { integrationId: 'i', facts: [] }, 'facts must not be empty'],
    [ingestInput, { integrationId: 'i', facts: [null] }, 'facts.0 must be an object'],
    [
      ingestInput,
      { integrationId: 'i', facts: [{ kind: 'x' }] },
      'facts.0.kind must be one of sessionStarted, sessionEvents, sessionClosed, sessionScored, sessionFailed, sessionCorrelated, anomalyDetected, writingScored, reportReady, alertFired',
    ],
    [ingestInput, { integrationId: 'i', facts: [{ ...fact, scoredAt: undefined }] }, 'facts.0.scoredAt is required'],
    [
      ingestInput,
      { integrationId: 'i', facts: [{ ...fact, detectionFlags: 'x' }] },
      'facts.0.detectionFlags must be an array',
    ],
  ])('is explained in plain words (%#)', (schema, input, words) => {
    expect(refusalOf(schema, input)).toBe(words);
  });

  it("keeps a field's own message", () => {
    expect(refusalOf(z.object({ a: z.string('must be nice') }), { a: 1 })).toBe('a must be nice');
  });

  it.each<[z.ZodType, unknown, string]>([
    [z.literal('x'), 'y', 'must be x'],
    [z.enum(['x', 'y']), 'z', 'must be one of x, y'],
    [z.number().max(5), 6, 'must be at most 5'],
    [z.string().min(2), 'x', 'must have at least 2 characters'],
    [z.union([z.string(), z.number()]), null, 'is not valid'],
    [z.strictObject({}), { a: 1 }, 'is not valid'],
    [z.map(z.string(), z.string()), 1, 'must be of another type'],
  ])('of any kind gets none of the library’s messages (%#)', (schema, input, words) => {
    expect(refusalOf(schema, input).trim()).toBe(words);
  });
});
