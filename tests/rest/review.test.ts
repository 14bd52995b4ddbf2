import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ReviewCase, SAMPLE_DAYS } from '../../contract/review';
import * as facts from '../support/facts';
import type { TestServer } from '../support/server';
import { createStaffClient, type StaffClient, startStaffServer } from '../support/staff-client';
import { hashTenantRows } from '../support/tenant-rows';

// The queues of the review page, and verdicts on several sessions at once.

let server: TestServer;
let analyst: StaffClient;
let tenant: { id: string; key: string };
let other: { id: string; key: string };

const HOUR_S = 3_600;
/** Sessions by name: the score, and how many seconds ago they began. */
const SESSIONS: Record<string, [score: number, agoS: number]> = {
  high: [0.95, 600],
  older: [0.8, 700],
  newer: [0.8, 500],
  cut: [0.4, 400],
  below: [0.39, 300],
  yesterday: [0.9, 30 * HOUR_S],
  longAgo: [0.9, 8 * 24 * HOUR_S],
  labelled: [0.99, 600],
  drawn: [0.97, 600],
  drawnToo: [0.1, 600],
  drawnAndDone: [0.1, 600],
  drawnLongAgo: [0.1, 600],
};
/** The days and places in the random sample. What was drawn longer ago waits no more. */
const DRAWN: [id: string, daysAgo: number, position: number][] = [
  ['drawnToo', 1, 2],
  ['drawn', 0, 1],
  ['drawnAndDone', 0, 2],
  ['drawnLongAgo', SAMPLE_DAYS + 1, 1],
];

beforeAll(async () => {
  server = await startStaffServer();
  analyst = await createStaffClient(server, 'analyst');
  [tenant, other] = [await server.createTenant(), await server.createTenant()];
  for (const { id } of [tenant, other]) {
    const sent = Object.entries(SESSIONS).flatMap(([name, [score, agoS]]) => [
      facts.started(name, { startedAt: facts.secondsAgo(agoS) }),
      facts.scored(name, score, {
        detectionFlags: ['webdriver'],
        evidence: [facts.finding('webdriver')],
        ruleSetVersion: '2026.1',
      }),
      facts.closed(name),
    ]);
    expect((await server.ingest(id, sent)).status).toBe(200);
  }
  for (const id of ['labelled', 'drawnAndDone'])
    await server.call('POST', `/v1/sessions/${id}/label`, { key: tenant.key, body: { verdict: 'bot' } });
  const { sql } = server.database.db;
  for (const [id, daysAgo, position] of DRAWN)
    await sql`insert into review_sample (integration_id, day, position, session_id)
              values (${tenant.id}, current_date - ${daysAgo}::int, ${position}, ${id})`;
});
afterAll(() => server.stop());

async function ask(name: string, input: object, { id } = tenant) {
  const { status, body, text } = await analyst.query(`review.${name}`, input, { 'x-integration-id': id });
  expect([name, status, text]).toEqual([name, 200, text]);
  return body.result.data;
}
async function change(name: string, input: object, { id } = tenant) {
  const { status, body, text } = await analyst.mutate(`review.${name}`, input, { 'x-integration-id': id });
  expect([name, status, text]).toEqual([name, 200, text]);
  return body.result.data;
}
const setThresholds = (mediumAt: number) =>
  server.call('PUT', '/v1/settings/risk-thresholds', { key: tenant.key, body: { mediumAt, botAt: 70 } });
const listIds = async (input: object) => (await ask('listQueue', input)).sessions.map(({ id }: { id: string }) => id);
/** Reads the history of a session, oldest first. */
const readHistory = (sessionId: string) =>
  server.database.db.sql`
    select label, reasons, notes, confidence, is_undo as "isUndo", actor_name as "actorName", medium_at as "mediumAt"
      from session_verdicts where integration_id = ${tenant.id} and session_id = ${sessionId} order by entry`;

describe('the queue by score', () => {
  it('has what needs a verdict, the highest score first, of two equal ones the newer', async () => {
    const queue = await ask('listQueue', {});
    expect(queue).toEqual({
      ...{ queue: 'score', window: '24h', openedAt: expect.stringMatching(/Z$/), total: 4 },
      sessions: [
        { id: 'high', score: 95 },
        { id: 'newer', score: 80 },
        { id: 'older', score: 80 },
        { id: 'cut', score: 40 },
      ],
    });
    expect(Math.abs(Date.parse(queue.openedAt) - Date.now())).toBeLessThan(60_000);
  });

  it('is of a window', async () => {
    expect(await listIds({ window: '7d' })).toEqual(['high', 'yesterday', 'newer', 'older', 'cut']);
    expect(await listIds({ window: 'today' })).not.toContain('yesterday');
    const refused = await analyst.query('review.listQueue', { window: '30d' }, { 'x-integration-id': tenant.id });
    expect([refused.status, refused.body.error.data.field]).toEqual([400, 'window']);
  });

  it('begins today at midnight in the time zone of the reviewer', async () => {
    // Wherever the clock stands, one zone has about five in the morning and another about six in the evening.
    const zoneAt = (hour: number) => {
      const offset = ((hour - new Date().getUTCHours() + 36) % 24) - 12;
      return `Etc/GMT${offset > 0 ? '-' : '+'}${Math.abs(offset)}`;
    };
    const fresh = await server.createTenant();
    await server.ingest(fresh.id, [
      ...[facts.started('ten', { startedAt: facts.secondsAgo(10 * HOUR_S) }), facts.scored('ten', 0.9)],
      facts.closed('ten'),
    ]);
    const listToday = async (timeZone: string) => (await ask('listQueue', { window: 'today', timeZone }, fresh)).total;
    expect([await listToday(zoneAt(5)), await listToday(zoneAt(18))]).toEqual([0, 1]);
    const refused = await analyst.query(
      'review.listQueue',
      { timeZone: 'Nowhere/AtAll' },
      { 'x-integration-id': fresh.id },
    );
    expect([refused.status, refused.body.error.data.field]).toEqual([400, 'timeZone']);
  });

  it('follows the medium cut point, but not below 20', async () => {
    await setThresholds(60);
    expect(await listIds({})).toEqual(['high', 'newer', 'older']);
    await setThresholds(0);
    expect(await listIds({})).toEqual(['high', 'newer', 'older', 'cut', 'below']);
    await setThresholds(40);
  });

  it('leaves out sessions of the sample, because a place in it tells the score', async () => {
    expect(await listIds({})).not.toContain('drawn');
    expect((await ask('listQueue', {}, other)).sessions.map(({ id }: { id: string }) => id)).toContain('drawn');
  });
});

describe('the random sample', () => {
  it('is in the order of the draws, without those that have a verdict or were drawn too long ago, and without scores', async () => {
    const { total, sessions } = await ask('listQueue', { queue: 'sample' });
    expect([total, sessions]).toEqual([
      2,
      [
        { id: 'drawnToo', score: null },
        { id: 'drawn', score: null },
      ],
    ]);
    expect((await ask('listQueue', { queue: 'sample' }, other)).total).toBe(0);
  });

  it('has no score, class, flags and evidence in its cases until the verdict', async () => {
    const [hidden] = await ask('listCases', { sessionIds: ['drawn'] });
    expect(hidden).toMatchObject({
      ...{ isBlind: true, evidence: null },
      session: { id: 'drawn', botScore: null, riskLevel: null, detectionFlags: [], label: null },
      details: { sessionId: 'drawn', evidence: null },
    });
    expect(JSON.stringify(hidden)).not.toMatch(/(?<!\d)0\.97|webdriver/);
    const { labeled } = await change('setVerdicts', { verdict: 'human', sessions: [{ sessionId: 'drawn' }] });
    const [shown] = await ask('listCases', { sessionIds: ['drawn'] });
    expect(shown).toMatchObject({ isBlind: false, session: { botScore: 0.97 }, evidence: { botScore: 0.97 } });
    const [{ sessionId, labeledAt }] = labeled;
    await change('undoVerdicts', { verdicts: [{ sessionId, labeledAt, previousLabeledAt: null }] });
    expect((await ask('listCases', { sessionIds: ['drawn'] }))[0].isBlind).toBe(true);
  });
});

describe('cases', () => {
  it('are what the session’s own procedures answer, in the order of the ids, each once', async () => {
    const cases: ReviewCase[] = await ask('listCases', { sessionIds: ['cut', 'nobody', 'high', 'cut'] });
    expect(cases.map(({ session }) => session.id)).toEqual(['cut', 'high']);
    for (const { session, details, evidence, isBlind } of cases) {
      const read = async (name: string) =>
        (await analyst.query(`sessions.${name}`, { sessionId: session.id }, { 'x-integration-id': tenant.id })).body
          .result.data;
      const own = await Promise.all(['get', 'getTimeline', 'getEvidence'].map(read));
      expect([session, details, evidence, isBlind]).toEqual([...own, false]);
    }
    const sessionIds = Array.from({ length: 11 }, (_, n) => `s${n}`);
    const refused = await analyst.query('review.listCases', { sessionIds }, { 'x-integration-id': tenant.id });
    expect([refused.status, refused.body.error.data.field]).toEqual([400, 'sessionIds']);
  });
});

describe('verdicts on several sessions', () => {
  const of = (...ids: string[]) => ids.map((sessionId) => ({ sessionId }));

  it('are set with reasons and notes, each with its history, and undone as a whole', async () => {
    const said = { reasons: ['TooFast'], notes: 'one wave', confidence: 'high' };
    const since = new Date().toISOString();
    const { labeled, failed } = await change('setVerdicts', {
      ...{ verdict: 'bot', ...said, sessions: of('high', 'nobody', 'newer', 'high') },
    });
    expect(failed).toEqual([{ sessionId: 'nobody', message: 'Session not found' }]);
    expect(labeled).toHaveLength(2);
    for (const id of ['high', 'newer'])
      expect(await readHistory(id)).toEqual([
        { label: 1, ...said, isUndo: false, actorName: analyst.email, mediumAt: 40 },
      ]);
    const audited = await server.database.db.sql`
      select subject_id as id from audit_entries
       where integration_id = ${tenant.id} and action = 'SessionLabeled' and actor_id = ${analyst.id} order by id`;
    expect(audited.map(({ id }) => id)).toEqual(expect.arrayContaining(['high', 'newer']));
    const told = await ask('listVerdicts', { since });
    expect(told.map(({ sessionId, verdict, isOwn }: never) => [sessionId, verdict, isOwn]).sort()).toEqual([
      ['high', 'bot', true],
      ['newer', 'bot', true],
    ]);
    expect(await listIds({})).toEqual(['older', 'cut']);

    // Somebody judges one of them again: that verdict stays.
    await server.call('POST', '/v1/sessions/newer/label', { key: tenant.key, body: { verdict: 'human' } });
    const verdicts = labeled.map(({ sessionId, labeledAt, previous }: Record<string, never>) => ({
      ...{ sessionId, labeledAt, previousLabeledAt: previous },
    }));
    expect(await change('undoVerdicts', { verdicts })).toEqual({
      undone: ['high'],
      failed: [{ sessionId: 'newer', message: 'labeledAt: somebody has labelled the session since' }],
    });
    expect((await readHistory('high')).at(-1)).toMatchObject({ label: null, isUndo: true });
    const later = new Map(
      (await ask('listVerdicts', { since })).map((one: { sessionId: string }) => [one.sessionId, one]),
    );
    expect(later.get('high')).toMatchObject({ verdict: null, isOwn: true });
    expect(later.get('newer')).toMatchObject({ verdict: 'human', isOwn: false });
    expect(await listIds({})).toEqual(['high', 'older', 'cut']);
  });

  it('do not replace a label that the reviewer has not seen', async () => {
    const sessions = [{ sessionId: 'older', seenLabeledAt: null }];
    expect((await change('setVerdicts', { verdict: 'human', sessions })).failed).toEqual([]);
    expect(await change('setVerdicts', { verdict: 'bot', sessions })).toEqual({
      labeled: [],
      failed: [{ sessionId: 'older', message: 'seenLabeledAt: somebody has labelled the session since' }],
    });
    expect(await readHistory('older')).toHaveLength(1);
  });

  it('say what was labelled before the database could do no more, and label nothing after it', async () => {
    const { sql } = server.database.db;
    await sql.unsafe(`
      create function run_out_of_disk() returns trigger language plpgsql as $$ begin
        perform pg_sleep(0.2);
        raise exception 'no space left' using errcode = '53100';
      end $$`);
    await sql`create trigger full_disk before insert on session_verdicts
              for each row when (new.session_id = 'below') execute function run_out_of_disk()`;
    try {
      const unknown = Array.from({ length: 5 }, (_, n) => `nobody-${n}`);
      const sessions = of('cut', 'below', ...unknown, 'yesterday', 'longAgo');
      const { labeled, failed } = await change('setVerdicts', { verdict: 'bot', sessions });
      const ids = labeled.map(({ sessionId }: { sessionId: string }) => sessionId);
      expect(ids).toContain('cut');
      expect(failed).toContainEqual({ sessionId: 'below', message: 'The service is temporarily unavailable' });
      expect(failed.length + ids.length).toBe(sessions.length);
      for (const id of ['cut', 'below', 'yesterday', 'longAgo'])
        expect([id, (await readHistory(id)).length]).toEqual([id, ids.includes(id) ? 1 : 0]);
      // Nothing could be labelled.
      const refused = await analyst.mutate(
        'review.setVerdicts',
        { verdict: 'bot', sessions: of('below') },
        { 'x-integration-id': tenant.id },
      );
      expect(refused.status).toBe(503);
    } finally {
      await sql`drop trigger full_disk on session_verdicts`;
    }
  });

  it('are at most 200 at a time', async () => {
    const sessions = of(...Array.from({ length: 201 }, (_, n) => `s${n}`));
    const refused = await analyst.mutate(
      'review.setVerdicts',
      { verdict: 'bot', sessions },
      { 'x-integration-id': tenant.id },
    );
    expect([refused.status, refused.body.error.data.field]).toEqual([400, 'sessions']);
  });

  it('neither change nor tell anything of another integration', async () => {
    // It also writes when keys were last used.
    await server.service.usage.flush();
    const before = await hashTenantRows(server.database.db, tenant.id);
    const fresh = await server.createTenant();
    expect(await ask('listCases', { sessionIds: ['high'] }, fresh)).toEqual([]);
    expect((await ask('listQueue', { window: '7d' }, fresh)).total).toBe(0);
    expect(await ask('listVerdicts', { since: facts.secondsAgo(HOUR_S) }, fresh)).toEqual([]);
    const failed = [{ sessionId: 'high', message: 'Session not found' }];
    expect(await change('setVerdicts', { verdict: 'bot', sessions: of('high') }, fresh)).toEqual({
      ...{ labeled: [], failed },
    });
    const verdicts = [{ sessionId: 'high', labeledAt: facts.secondsAgo(1), previousLabeledAt: null }];
    expect(await change('undoVerdicts', { verdicts }, fresh)).toEqual({ undone: [], failed });
    expect(await hashTenantRows(server.database.db, tenant.id)).toEqual(before);
  });
});
