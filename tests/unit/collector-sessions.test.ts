import { expect, it } from 'vitest';
import type { Database } from '../../db/client';
import { COMMIT_DELAY_MS } from '../../server/collector/intake';
import { type KeptBatch, packBatch } from '../../server/collector/packing';
import { createSessions } from '../../server/collector/session-state';
import { packNumbers } from '../../server/detection/varints';
import { typed } from '../support/beacon';

const CREATED_AT = '2026-11-22T12:00:00.000Z';
const CREATED_MS = Date.parse(CREATED_AT);

it('a batch that is missing for good has the others read once, not at every judgement', async () => {
  const since: number[] = [];
  const query = async (_: string, parameters: unknown[]) => {
    since.push(Date.parse(parameters[2] as string));
    return [];
  };
  const sessions = createSessions({ query } as unknown as Database);
  const add = (n: number) => {
    const receivedAtMs = CREATED_MS + n * 120_000;
    const batch: KeptBatch = { d: 'a'.repeat(16), n, c: [0, 0], events: '', receivedAtMs };
    const stored = {
      sessionKey: '1',
      day: '2026-11-22',
      isNewSession: n === 0,
      createdAt: CREATED_AT,
      isClosed: false,
    };
    const named = { integrationId: 'int_1', sessionId: 'ses_1', userAgent: '', country: null, location: null };
    sessions.addBatch(named, { ...stored, receivedAt: new Date(receivedAtMs).toISOString() }, batch);
    return receivedAtMs;
  };
  add(0);
  const session = sessions.get('1')!;
  const secondMs = add(2);
  await sessions.refresh(session);
  const thirdMs = add(3);
  await sessions.refresh(session);
  await sessions.refresh(session);
  // Whatever was committed since the last reading carries a time that is at most the delay earlier.
  expect(since).toEqual([0, secondMs - COMMIT_DELAY_MS, thirdMs - COMMIT_DELAY_MS]);
});

it('a large session that may not be is not read to its end', async () => {
  const body = packBatch({ c: [0, 0], events: packNumbers(typed(0, 200)) });
  const rows = Array.from({ length: 100 }, (_, n) => ({ document: '1', sequence: n, receivedAt: CREATED_AT, body }));
  const row = {
    key: '1',
    day: '2026-11-22',
    integrationId: 'int_1',
    createdAt: CREATED_AT,
    dueAt: CREATED_AT,
    cutAgeMs: null,
  };
  const query = async (text: string) => (text.includes('from session_batches') ? rows : [row]);
  const sessions = createSessions({ query } as unknown as Database);
  let asked = 0;
  expect(await sessions.load('1', () => ++asked === 0)).toBe('large');
  expect([asked, sessions.count()]).toEqual([1, 0]);
  expect(await sessions.load('1', () => true)).toMatchObject({ batches: { length: 100 } });
  rows.splice(10);
  const small = await sessions.load('1', () => false);
  expect(small).toMatchObject({ batches: { length: 10 } });
});
