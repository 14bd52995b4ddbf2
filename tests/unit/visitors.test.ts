import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { BeaconUser } from '../../contract/beacon';
import type { Database } from '../../db/client';
import { planCut, readSession } from '../../server/collector/cuts';
import type { NamedUser } from '../../server/collector/packing';
import { createSessions } from '../../server/collector/session-state';
import { findConfidence, isOtherUser, readUser } from '../../server/collector/visitors';

const SECRET = Buffer.from('secret');
const hash = createHmac('sha256', SECRET).update('u-1').digest('hex');
const wrong = createHmac('sha256', 'other').update('u-1').digest('hex');
const UNKNOWN = { name: null, email: null, url: null, context: null };
const UNSIGNED: NamedUser = { id: 'u-1', ...UNKNOWN, isSigned: false };
const FROM_LMS: NamedUser = { ...UNSIGNED, isFromLms: true };
const SIGNED: NamedUser = { ...UNSIGNED, isSigned: true };

describe('whom a page names', () => {
  const [NONE, REQUIRED, RELAXED] = [
    { identitySecret: null, acceptsUnsignedUsers: false },
    { identitySecret: SECRET, acceptsUnsignedUsers: false },
    { identitySecret: SECRET, acceptsUnsignedUsers: true },
  ];

  it.each<[string, BeaconUser, typeof RELAXED | typeof NONE, NamedUser | null, number]>([
    ['an unsigned user', { id: 'u-1' }, NONE, UNSIGNED, 0.5],
    ['an unsigned user with a hash that nobody can check', { id: 'u-1', hash }, NONE, UNSIGNED, 0.5],
    ['a user of a platform', { id: 'u-1', lms: 1 }, NONE, FROM_LMS, 0.7],
    ['a signed user', { id: 'u-1', hash }, REQUIRED, SIGNED, 1],
    ['a signed user, whatever the page says of a platform', { id: 'u-1', hash, lms: 1 }, REQUIRED, SIGNED, 1],
    ['nobody without a signature', { id: 'u-1' }, REQUIRED, null, 0],
    ['nobody with a wrong signature', { id: 'u-1', hash: wrong }, REQUIRED, null, 0],
    ['nobody of a platform', { id: 'u-1', lms: 1 }, REQUIRED, null, 0],
    ['a signed user where others count too', { id: 'u-1', hash }, RELAXED, SIGNED, 1],
    ['a user with a wrong signature as an unsigned one', { id: 'u-1', hash: wrong }, RELAXED, UNSIGNED, 0.5],
    ['a user of a platform where others count', { id: 'u-1', lms: 1 }, RELAXED, FROM_LMS, 0.7],
  ])('is %s', (_, named, site, expected, confidence) => {
    const user = readUser(named, site);
    expect(user).toEqual(expected);
    if (user) expect(findConfidence(user)).toBe(confidence);
  });

  it('is told again if the user or the confidence is another, not if the words are', () => {
    expect(isOtherUser(UNSIGNED, null)).toBe(true);
    expect(isOtherUser({ ...UNSIGNED, id: 'u-2' }, UNSIGNED)).toBe(true);
    expect(isOtherUser(SIGNED, UNSIGNED)).toBe(true);
    expect(isOtherUser(FROM_LMS, UNSIGNED)).toBe(true);
    expect(isOtherUser({ ...UNSIGNED, name: 'Ada', context: 'c-1' }, UNSIGNED)).toBe(false);
  });
});

describe('a session that names several users', () => {
  const createdAt = '2026-11-22T12:00:00.000Z';
  const stored = { sessionKey: '1', day: '2026-11-22', createdAt, isClosed: false };
  const as = (user: NamedUser, id: string) => ({ ...user, id });

  /** Opens a session. The answer adds a batch that names a user. */
  function openSession() {
    const sessions = createSessions({ query: async () => [] } as unknown as Database);
    let n = 0;
    return (user: NamedUser) => {
      const receivedAtMs = Date.parse(createdAt) + 1_000 * n;
      const receivedAt = new Date(receivedAtMs).toISOString();
      sessions.addBatch(
        { integrationId: 'int_1', sessionId: 'ses_1', userAgent: '', country: null, location: null },
        { ...stored, receivedAt, isNewSession: n === 0 },
        { d: 'a'.repeat(16), n: n++, c: [0, 0], events: '', receivedAtMs, user, origin: 'https://lms.example.edu' },
      );
      return sessions.get('1')!;
    };
  }

  it('has the one with the highest confidence, and the latest among those', () => {
    const add = openSession();
    const name = (user: NamedUser) => add(user).named!.user!.id;
    expect(name(as(UNSIGNED, 'a'))).toBe('a');
    expect(name(as(UNSIGNED, 'b'))).toBe('b');
    expect(name(as(FROM_LMS, 'c'))).toBe('c');
    expect(name(as(UNSIGNED, 'd'))).toBe('c');
    expect(name(as(SIGNED, 'e'))).toBe('e');
    expect(name(as(FROM_LMS, 'f'))).toBe('e');
    expect(name(as(SIGNED, 'g'))).toBe('g');
  });

  it('tells of each once, and not again when a page says other words of the same one', () => {
    const add = openSession();
    const tell = (user: NamedUser) => {
      const session = add(user);
      const reading = readSession(session, { goneMs: 60_000, idleMs: 900_000 })!;
      const cut = planCut(session, { reading, nowMs: Date.parse(createdAt) + 5_000, isDue: false });
      if (cut) Object.assign(session, { progress: cut.progress, fresh: [], dueAtMs: reading.dueAtMs });
      session.recordedAtMs = performance.now();
      return cut?.facts.flatMap((fact) =>
        fact.kind === 'sessionCorrelated' ? [[fact.user.id, fact.confidence, fact.isUnverified]] : [],
      );
    };
    expect(tell(UNSIGNED)).toEqual([['u-1', 0.5, true]]);
    expect(tell({ ...UNSIGNED, name: 'Ada', context: 'course-2' })).toBeUndefined();
    expect(tell(FROM_LMS)).toEqual([['u-1', 0.7, true]]);
    expect(tell(as(FROM_LMS, 'u-2'))).toEqual([['u-2', 0.7, true]]);
    expect(tell(as(UNSIGNED, 'u-3'))).toBeUndefined();
    expect(tell(as(SIGNED, 'u-2'))).toEqual([['u-2', 1, false]]);
  });
});
