import { expect } from 'vitest';
import { KEY_SCOPES } from '../../../contract/integrations';
import type { Answer } from '../server';
import { INSTANT, type Success } from './success';

/** Expects what a walk of the list gives, an item in each line. */
async function expectLines(text: string, walk: Promise<Answer>) {
  expect(
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line)),
  ).toEqual((await walk).body.data);
}

export const RECORD_SUCCESSES = {
  listAuditEntries: {
    status: 200,
    query: 'pageSize=3',
    async check({ body }, { id, key, ids, disabledWebhookId, get }) {
      const masked = `${key.slice(0, 11)}…${key.slice(-4)}`;
      const apiKey = { kind: 'ApiKey', id: expect.stringMatching(/^key_/), name: masked };
      const operator = { kind: 'Operator', id: null, name: null };
      const entryOf = (action: string, actor: object, subjectId: unknown) => ({
        ...{ id: expect.stringMatching(/^aud_/), at: INSTANT, action, actor, subjectId },
        details: expect.any(Object),
      });
      expect(body.data).toEqual([
        entryOf('WebhookCreated', apiKey, ids.id),
        entryOf('WebhookCreated', apiKey, disabledWebhookId),
        {
          ...entryOf('KeyMinted', operator, body.data[0].actor.id),
          details: { name: 'test', masked, scopes: [...KEY_SCOPES], expiresAt: null },
        },
      ]);
      const rest = await get(`/v1/audit-log?pageSize=3&cursor=${body.pagination.nextCursor}`);
      expect(rest.body).toEqual({
        data: [entryOf('IntegrationCreated', operator, id)],
        pagination: { hasMore: false, limit: 3 },
      });
    },
  },
  exportSessions: {
    status: 200,
    async check({ text }, { get }) {
      await expectLines(text, get('/v1/sessions'));
      const { text: filtered } = await get('/v1/exports/sessions?status=active');
      expect(filtered).not.toBe('');
      await expectLines(filtered, get('/v1/sessions?status=active'));
    },
  },
  exportUsers: {
    status: 200,
    query: 'format=CSV',
    async check({ text }, { ids, time, get }) {
      const { text: lines } = await get('/v1/exports/users?format=ndjson');
      await expectLines(lines, get('/v1/users'));
      expect(text.split('\r\n')).toEqual([
        'id,name,email,url,sessionCount,botSessionCount,averageBotScore,maxBotScore,riskLevel,deviceCount,confirmedDeviceCount,anomalyCount,correlationConfidence,firstSeenAt,lastSeenAt',
        `${ids.userId},Ada Lovelace,ada@example.edu,https://lms.example.edu/users/4711,2,1,0.74,0.93,bot,2,0,1,0.8,${time(600)},${time(500)}`,
        '',
      ]);
    },
  },
  exportWebhookEvents: {
    status: 200,
    check: ({ text }, { get }) => expectLines(text, get('/v1/webhook-events')),
  },
  exportAuditEntries: {
    status: 200,
    check: ({ text }, { get }) => expectLines(text, get('/v1/audit-log')),
  },
} satisfies Record<string, Success>;
