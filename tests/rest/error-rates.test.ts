import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ErrorRates } from '../../contract/error-rates';
import { findLowerBound, findUpperBound } from '../../server/domain/binomial-interval';
import { pruneReviewDraws } from '../../server/domain/retention';
import { drawReviewSamples } from '../../server/domain/review-draws';
import { beginWindow } from '../support/clock-window';
import type { TestServer } from '../support/server';
import { createStaffClient, type StaffClient, startStaffServer } from '../support/staff-client';

// The random sample, and the error rates that follow from it and from labels.

const DAY_MS = 86_400_000;
const HOURS_8_MS = 8 * 3_600_000;

let server: TestServer;
let second: TestServer;
let tenant: { id: string };
let admin: StaffClient;
let analyst: StaffClient;

beforeAll(async () => {
  server = await startStaffServer();
  second = await startStaffServer({}, server);
  // Their crons would draw for these tests.
  for (const { service } of [server, second]) await service.engine!.stop(0);
  admin = await createStaffClient(server, 'admin');
  analyst = await createStaffClient(server, 'analyst');
});
afterAll(async () => {
  await second.stop();
  await server.stop();
});
beforeEach(async () => {
  // At eight o'clock another day can be drawn.
  await beginWindow(server.database.db, DAY_MS, 20_000, HOURS_8_MS);
  tenant = await server.createTenant();
});

const of = ({ id } = tenant) => ({ 'x-integration-id': id });
const sql = () => server.database.db.sql;
const setSize = (sampleSize: unknown, client = admin) =>
  client.mutate('errorRates.setSampleSize', { sampleSize }, of());
const getRates = async (target = tenant): Promise<ErrorRates> =>
  (await analyst.query('errorRates.get', undefined, of(target))).body.result.data;

/** The day (UTC) so many days before the latest one of which sessions can be drawn. */
const drawableDay = (daysBefore = 0) =>
  new Date(Date.now() - HOURS_8_MS - (1 + daysBefore) * DAY_MS).toISOString().slice(0, 10);

/** Adds sessions that began on a day. */
async function addSessions(day: string, bins: (number | null)[], prefix = day): Promise<string[]> {
  const ids = bins.map((_, n) => `${prefix}-${String(n).padStart(3, '0')}`);
  await sql()`
    insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type,
                          browser, bot_score, score_bin)
    select ${tenant.id}, id, ${`${day}T12:00:00Z`}::timestamptz + n * interval '1 s', 'Scored', 'https://lms.example.edu/', '', '', '',
           'desktop', 'Chrome', bin / 100.0, bin
      from unnest(string_to_array(${ids.join()}, ','), string_to_array(${bins.map((bin) => bin ?? '').join()}, ',', '')::int[])
           with ordinality as s(id, bin, n)`;
  return ids;
}
const label = (ids: string[], verdict: 1 | -1) => sql()`
  update sessions set label = ${verdict}, labeled_at = now() where integration_id = ${tenant.id} and id in ${sql()(ids)}`;

/** Writes an entry of the history, as staff unless `by` says otherwise. */
const judge = (
  id: string,
  verdict: 1 | -1 | null,
  entry: { score?: number; by?: string; isUndo?: boolean; at?: string } = {},
) =>
  sql()`
    insert into session_verdicts (integration_id, session_id, decided_at, label, actor_kind, is_undo, bot_score)
    values (${tenant.id}, ${id}, ${entry.at ?? new Date().toISOString()}, ${verdict}, ${entry.by ?? 'Staff'},
            ${entry.isUndo ?? false}, ${entry.score ?? null})`;

const listSample = () => sql()<{ day: string; position: number; id: string }[]>`
  select day::text, position, session_id as id from review_sample where integration_id = ${tenant.id} order by day, position`;
const listDraws = () => sql()<{ day: string; population: number }[]>`
  select day::text, population from review_draws where integration_id = ${tenant.id} order by day`;
/** As if it had been switched on so many days before. */
const switchOn = async (sampleSize: number, daysBefore: number) => {
  await setSize(sampleSize);
  await sql()`update review_draws set day = ${drawableDay(daysBefore)}::text::date where integration_id = ${tenant.id}`;
};

describe('the size of the random sample', () => {
  it('is set by admins, and audited', async () => {
    expect((await getRates()).sampleSize).toBe(0);
    expect((await setSize(25)).body.result.data).toEqual({ sampleSize: 25 });
    await setSize(25);
    expect((await getRates()).sampleSize).toBe(25);
    expect((await setSize(0)).status).toBe(200);
    const { data } = (await admin.query('audit.list', { scope: 'Integration' }, of())).body.result.data;
    expect(data.filter(({ action }: { action: string }) => action === 'ReviewSampleChanged')).toMatchObject([
      { details: { before: 25, after: 0 }, actor: { name: admin.email } },
      { details: { before: 0, after: 25 } },
    ]);
    expect((await setSize(25, analyst)).status).toBe(403);
    for (const wrong of [-1, 201, 2.5, '20', null]) {
      const { status, body } = await setSize(wrong);
      expect([status, body.error.data.field, body.error.message]).toEqual([
        ...[400, 'sampleSize', 'sampleSize: must be a whole number from 0 to 200'],
      ]);
    }
    expect((await getRates()).sampleSize).toBe(0);
  });
});

describe('a draw', () => {
  it('takes that many of all scored sessions of a day, in random order, with and without a label', async () => {
    const day = drawableDay();
    const ids = await addSessions(
      day,
      Array.from({ length: 12 }, (_, n) => n * 8),
    );
    await addSessions(day, [null, null], 'unscored');
    await addSessions(drawableDay(-1), [50], 'later');
    await label(ids.slice(0, 6), 1);
    await switchOn(5, 1);
    const orders = new Set<string>();
    const seen = new Set<string>();
    for (let n = 0; n < 12; n++) {
      await sql()`delete from review_draws where integration_id = ${tenant.id} and day = ${day}::text::date`;
      await sql()`delete from review_sample where integration_id = ${tenant.id}`;
      await drawReviewSamples(server.service.db);
      const sample = await listSample();
      expect(sample.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5]);
      expect(new Set(sample.map(({ id }) => id)).size).toBe(5);
      for (const { id } of sample) seen.add(id);
      orders.add(sample.map(({ id }) => id).join());
    }
    expect(await listDraws()).toEqual([
      { day: drawableDay(1), population: 0 },
      { day, population: 12 },
    ]);
    expect([...seen].filter((id) => !ids.includes(id))).toEqual([]);
    // With chance, the probability of either is below one in ten million.
    expect(seen.size).toBeGreaterThan(8);
    expect(orders.size).toBeGreaterThan(8);
  });

  it('is made once, however many processes draw', async () => {
    await switchOn(3, 4);
    for (let n = 0; n < 4; n++) await addSessions(drawableDay(n), [1, 2, 3, 4, 5, 6]);
    const { db } = server.service;
    const drawn = await Promise.all([db, second.service.db, db, second.service.db].map(drawReviewSamples));
    expect(Math.max(...drawn)).toBe(4);
    const [draws, sample] = [await listDraws(), await listSample()];
    expect(draws.slice(1)).toEqual([3, 2, 1, 0].map((n) => ({ day: drawableDay(n), population: 6 })));
    expect(sample.map(({ position }) => position)).toEqual([1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3]);
    expect(await drawReviewSamples(db)).toBe(0);
    expect([await listDraws(), await listSample()]).toEqual([draws, sample]);
  });

  it('has the sessions of a day from its midnight to the next one, in UTC', async () => {
    const [before, day, after] = [drawableDay(1), drawableDay(), drawableDay(-1)];
    const ids = await addSessions(day, [10, 20, 30, 40]);
    const times = [`${before}T23:59:59.999Z`, `${day}T00:00:00Z`, `${day}T23:59:59.999Z`, `${after}T00:00:00Z`];
    for (const [n, id] of ids.entries())
      await sql()`update sessions set created_at = ${times[n]!} where integration_id = ${tenant.id} and id = ${id}`;
    await switchOn(10, 1);
    await drawReviewSamples(server.service.db);
    expect((await listSample()).map(({ id }) => id).sort()).toEqual(ids.slice(1, 3));
    expect((await listDraws()).at(-1)).toEqual({ day, population: 2 });
  });

  it('begins with the day in which it is switched on, goes at most seven days back, and rests while it is off', async () => {
    for (let n = 0; n < 9; n++) await addSessions(drawableDay(n), [10, 20]);
    await setSize(1);
    await drawReviewSamples(server.service.db);
    expect(await listSample()).toEqual([]);
    await switchOn(1, 30);
    await setSize(0);
    await drawReviewSamples(server.service.db);
    expect(await listSample()).toEqual([]);
    await sql()`update integrations set review_sample_size = 1 where id = ${tenant.id}`;
    await drawReviewSamples(server.service.db);
    expect((await listSample()).map(({ day }) => day)).toEqual([6, 5, 4, 3, 2, 1, 0].map(drawableDay));
  });

  it('is removed with the retention of the plan', async () => {
    await switchOn(2, 2);
    for (const n of [0, 1]) await addSessions(drawableDay(n), [1, 2, 3]);
    await drawReviewSamples(server.service.db);
    await sql()`update integrations set plan = 'free' where id = ${tenant.id}`;
    const old = drawableDay(31);
    for (const table of ['review_draws', 'review_sample'])
      await sql()`update ${sql()(table)} set day = ${old}::text::date where integration_id = ${tenant.id} and day = ${drawableDay(1)}::text::date`;
    expect(await pruneReviewDraws(server.service.db)).toBeGreaterThan(0);
    expect((await listSample()).map(({ day }) => day)).toEqual([drawableDay(), drawableDay()]);
    expect((await listDraws()).map(({ day }) => day)).not.toContain(old);
  });
});

describe('the rates', () => {
  /** Draws all sessions of a day: 20 of people, 2 of them with a high score, and 12 of bots, 10 of them with one. */
  async function drawDay() {
    const bins = [...Array(18).fill(10), 80, 80, ...Array(10).fill(90), 30, 30];
    const ids = await addSessions(drawableDay(), bins);
    await switchOn(40, 1);
    await drawReviewSamples(server.service.db);
    expect(await listSample()).toHaveLength(32);
    return { people: ids.slice(0, 20), bots: ids.slice(20) };
  }

  it('by the random sample count the first verdict that staff gave after the draw, with the score of then', async () => {
    const { people, bots } = await drawDay();
    for (const id of people) await judge(id, -1);
    for (const id of bots) await judge(id, 1);
    const rates = (await getRates()).sample;
    expect(rates).toMatchObject({ days: 1, population: 32, humans: 20, bots: 12, skipped: 0, setAside: 0, waiting: 0 });
    expect(rates.ratesByCut).toHaveLength(101);
    const { falsePositives, precision, recall } = rates.ratesByCut[70]!;
    expect(falsePositives).toMatchObject({ estimate: 0.1, of: 20 });
    expect(falsePositives!.low).toBeCloseTo(findLowerBound(2, 20), 5);
    expect(falsePositives!.high).toBeCloseTo(findUpperBound(2, 20), 5);
    expect(precision).toMatchObject({ estimate: 0.833333, of: 12 });
    expect(recall).toMatchObject({ estimate: 0.833333, of: 12 });
    // A change of mind comes with the score in sight. What was taken back counts as if it had not been said.
    await judge(people[19]!, 1);
    expect((await getRates()).sample).toEqual(rates);
    await sql()`delete from session_verdicts where integration_id = ${tenant.id} and session_id = ${people[19]!}`;
    await judge(people[19]!, -1, { at: '2020-01-01T00:00:00Z' });
    await judge(people[19]!, -1);
    // The same with a reason.
    await judge(people[19]!, -1);
    await judge(people[19]!, null, { isUndo: true });
    await judge(people[19]!, 1, { score: 0.29 });
    await judge(people[19]!, 1, { score: 0.31 });
    expect((await getRates()).sample).toMatchObject({ humans: 19, bots: 13 });
    const at = (await getRates()).sample.ratesByCut;
    expect([at[29]!.recall!.estimate, at[30]!.recall!.estimate]).toEqual([1, 0.923077]);
  });

  it('take notes on a verdict from before the draw for no review, and its session for one that was labelled with the score in sight', async () => {
    const { people, bots } = await drawDay();
    const before = people[19]!;
    await label([before], -1);
    await judge(before, -1, { at: '2020-01-01T00:00:00Z' });
    await judge(before, -1);
    expect((await getRates()).sample.days).toBe(0);
    for (const id of people.slice(0, 19)) await judge(id, -1);
    for (const id of bots) await judge(id, 1);
    expect((await getRates()).sample).toMatchObject({ days: 1, humans: 20, bots: 12, unblinded: 1 });
  });

  it('count no verdict that was taken back, however many there were, and the session waits again', async () => {
    const { people, bots } = await drawDay();
    for (const id of [...people.slice(3), ...bots]) await judge(id, bots.includes(id) ? 1 : -1);
    const [undone, removed, colleague] = people as [string, string, string];
    // Two keys by mistake, and both are undone: the last one first.
    await judge(undone, 1);
    await judge(undone, -1);
    await judge(undone, 1, { isUndo: true });
    await judge(undone, null, { isUndo: true });
    // A label that was changed is removed.
    await judge(removed, 1);
    await judge(removed, -1);
    await judge(removed, null);
    // What somebody else had said comes back.
    await judge(colleague, -1, { by: 'ApiKey' });
    await judge(colleague, 1);
    await judge(colleague, -1);
    await judge(colleague, 1, { isUndo: true });
    await judge(colleague, -1, { isUndo: true });
    await label([colleague], -1);
    const { sample } = await getRates();
    expect({ bots: sample.bots, waiting: sample.waiting }).toEqual({ bots: 12, waiting: 2 });
    for (const id of [undone, removed]) await judge(id, -1);
    expect((await getRates()).sample).toMatchObject({ humans: 20, bots: 12, waiting: 0 });
  });

  it('count a label that was given elsewhere, and widen for sessions without any', async () => {
    const { people, bots } = await drawDay();
    await label(bots, 1);
    for (const id of people.slice(0, 15)) await judge(id, -1);
    for (const id of people.slice(15)) await judge(id, -1, { by: 'ApiKey' });
    const [last] = (await listSample()).filter(({ id }) => people.slice(0, 15).includes(id)).slice(-1);
    const seen = (await listSample()).slice(0, last!.position).map(({ id }) => id);
    const { sample } = await getRates();
    expect(sample).toMatchObject({ days: 1, humans: 15, waiting: 5 });
    expect(sample.bots).toBe(sample.unblinded);
    expect(sample.bots).toBeGreaterThanOrEqual(seen.filter((id) => bots.includes(id)).length);
    const unknown = people.slice(15).filter((id) => seen.includes(id)).length;
    expect([unknown, unknown + 1]).toContain(sample.skipped);
  });

  it('by labels say how many there are, and nothing of bots that were not found', async () => {
    const ids = await addSessions(drawableDay(), [...Array(20).fill(85), ...Array(30).fill(15), 95]);
    await label(ids.slice(0, 18), 1);
    await label(ids.slice(18, 50), -1);
    const { labels, sample, days } = await getRates();
    expect({ ...labels, ratesByCut: labels.ratesByCut[70] }).toEqual({
      ...{ humans: 32, bots: 18 },
      ratesByCut: {
        falsePositives: expect.objectContaining({ estimate: 0.0625, of: 32 }),
        precision: expect.objectContaining({ estimate: 0.9, of: 20 }),
        recall: null,
      },
    });
    expect(sample.ratesByCut[70]).toEqual({ falsePositives: null, precision: null, recall: null });
    expect(days).toBe(90);
  });

  it('by labels count bots and people of the same time, also where one kind has more than are read', async () => {
    const addLabels = (prefix: string, count: number, verdict: 1 | -1, everyMinutes: number) => sql()`
      insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type,
                            browser, bot_score, score_bin, label, labeled_at)
      select ${tenant.id}, ${prefix}::text || n, now() - n * ${everyMinutes}::int * interval '1 minute', 'Scored',
             'https://lms.example.edu/', '', '', '', 'desktop', 'Chrome', 0.9, 90, ${verdict}::int, now()
        from generate_series(1, ${count}::int) n`;
    // Labels of a program, of 50 days, and those of people, of 80 days: one human of 120 at any time.
    await addLabels('bot-', 12_000, 1, 6);
    await addLabels('human-', 160, -1, 720);
    const { humans, bots, ratesByCut } = (await getRates()).labels;
    expect({ humans, bots }).toEqual({ humans: 83, bots: 10_000 });
    expect(ratesByCut[70]!.precision!.estimate).toBeCloseTo(120 / 121, 4);
  });

  it('are those of one tenant', async () => {
    const { people } = await drawDay();
    for (const id of people) await judge(id, -1);
    await label(people, -1);
    const other = await server.createTenant();
    const before = await getRates(other);
    expect([before.sample.humans, before.labels.humans, before.sampleSize]).toEqual([0, 0, 0]);
    expect((await getRates()).labels.humans).toBe(20);
  });
});
