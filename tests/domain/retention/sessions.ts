import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../contract/tiers';
import { pruneSessions } from '../../../server/domain/retention';
import { foldSessionDeltas } from '../../../server/domain/rollups';
import { Customer } from '../../support/customer';
import { started } from '../../support/facts';
import { daysAgo, server, sessionOf } from './shared-server';

// Old sessions, and the counts that stay.

/** Creates a customer in whose sessions the rules on findings look for nothing: what they find is counted when they have found it. */
async function createUnjudged(facts: object[], plan: Plan): Promise<Customer> {
  const customer = await Customer.create(server, [], plan);
  await customer.switchOffFindings();
  await customer.accept(facts);
  return customer;
}

const readCounts = async (customer: Customer) => {
  const { generatedAt: _, ...stats } = await customer.read('/v1/stats');
  const {
    startDate: __,
    endDate: ___,
    generatedAt: ____,
    ...analytics
  } = await customer.read('/v1/analytics?period=90d&groupBy=week');
  return {
    stats,
    analytics,
    users: await customer.readAll('/v1/users'),
    courses: await customer.readAll('/v1/courses'),
  };
};

const countRows = async ({ id }: Customer) => {
  const [row] = await server.database.db.sql`
    select (select count(*)::int from sessions where integration_id = ${id}) as sessions,
           (select count(*)::int from session_events where integration_id = ${id}) as events,
           (select count(*)::int from session_flags where integration_id = ${id}) as flags,
           (select count(*)::int from session_scores where integration_id = ${id}) as scores,
           (select count(*)::int from session_correlations where integration_id = ${id}) as correlations,
           (select count(*)::int from session_verdicts where integration_id = ${id}) as verdicts`;
  return row;
};

/** Inserts sessions that began so many days ago. */
const insertSessions = ({ id }: Customer, count: number, days: number) => server.database.db.sql`
  insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type, browser)
  select ${id}, ${days} || '-' || n, now() - ${days} * interval '1 day', 'Closed', '', '', '', '', 'desktop', 'Chrome'
    from generate_series(1, ${count}::int) n`;

export function registerSessionTests(): void {
  describe('sessions older than the plan’s retention', () => {
    it.each([
      ['free', 30],
      ['starter', 90],
      ['pro', 365],
      ['enterprise', 730],
    ] as const)('are removed on %s after %i days, with everything that belongs to them', async (plan, days) => {
      const customer = await Customer.create(
        server,
        [...sessionOf('old', days + 0.01, 1), ...sessionOf('kept', days - 0.01, 0)],
        plan,
      );
      for (const id of ['old', 'kept']) await customer.label(id, { verdict: 'human' });
      await pruneSessions(server.database.db);
      const one = { sessions: 1, events: 1, scores: 1, correlations: 1, verdicts: 1 };
      expect(await countRows(customer)).toEqual({ ...one, flags: 2 });
      expect((await customer.get('/v1/sessions/old')).status).toBe(404);
      expect((await customer.get('/v1/sessions/kept')).status).toBe(200);
    });

    it.each(['before', 'after'])('stay counted when they are folded %s they are removed', async (when) => {
      const facts = [...sessionOf('a', 80, 0.9), ...sessionOf('b', 70, 0.2), ...sessionOf('c', 1, 0.5)];
      const customer = await createUnjudged(facts, 'free');
      if (when === 'before') await foldSessionDeltas(server.database.db);
      const counts = await readCounts(customer);
      await pruneSessions(server.database.db);
      expect(await countRows(customer)).toMatchObject({ sessions: 1 });
      expect(await readCounts(customer)).toEqual(counts);
      await foldSessionDeltas(server.database.db);
      expect(await readCounts(customer)).toEqual(counts);
      expect(counts.users[0]).toMatchObject({ sessionCount: 3, maxBotScore: 0.9, deviceCount: 3, botSessionCount: 1 });
    });

    it.each([
      [0.9, 0.2],
      [0.2, 0.9],
    ])(
      'leave first and last times and the highest score, also if others were removed before: %s, %s',
      async (one, other) => {
        const customer = await createUnjudged([...sessionOf('a', 100, one), ...sessionOf('b', 70, other)], 'starter');
        const readUsers = () => customer.readAll('/v1/users');
        const users = await readUsers();
        expect(users).toMatchObject([{ sessionCount: 2, maxBotScore: 0.9 }]);
        await pruneSessions(server.database.db);
        expect(await countRows(customer)).toMatchObject({ sessions: 1 });
        await server.database.db.sql`update integrations set plan = 'free' where id = ${customer.id}`;
        await pruneSessions(server.database.db);
        expect(await countRows(customer)).toMatchObject({ sessions: 0 });
        expect(await readUsers()).toEqual(users);
        await foldSessionDeltas(server.database.db);
        expect(await readUsers()).toEqual(users);
      },
    );

    it('are active no more if nothing said that they ended', async () => {
      const active = ['a', 'b'].map((id) => started(id, { startedAt: daysAgo(31) }));
      const customer = await createUnjudged([...active, started('kept', { startedAt: daysAgo(29) })], 'free');
      const readStats = () => customer.read('/v1/stats');
      expect(await readStats()).toMatchObject({ activeSessions: 3 });
      await pruneSessions(server.database.db);
      expect(await countRows(customer)).toMatchObject({ sessions: 1 });
      expect(await readStats()).toMatchObject({ activeSessions: 1, totalSessions: 3 });
      await foldSessionDeltas(server.database.db);
      expect(await readStats()).toMatchObject({ activeSessions: 1, totalSessions: 3 });
    });

    it('leave their user with an empty list of sessions', async () => {
      const customer = await Customer.create(server, sessionOf('a', 80, 0.9), 'free');
      await pruneSessions(server.database.db);
      expect(await customer.readAll('/v1/users')).toHaveLength(1);
      expect(await customer.read('/v1/users/u/sessions')).toEqual([]);
      expect((await customer.get('/v1/users/nobody/sessions')).status).toBe(404);
    });

    it('are all removed, in batches', async () => {
      const customer = await Customer.create(server, [], 'free');
      await insertSessions(customer, 1234, 40);
      expect(await pruneSessions(server.database.db)).toBe(1234);
      expect(await countRows(customer)).toMatchObject({ sessions: 0 });
      expect(await customer.read('/v1/stats')).toMatchObject({ totalSessions: 1234 });
    });

    it('are removed in turn, those first that are overdue for longest, and no more when the time of a run is over', async () => {
      const [large, small, late] = await Promise.all([1, 2, 3].map(() => Customer.create(server, [], 'free')));
      await pruneSessions(server.database.db);
      await insertSessions(large!, 500, 90);
      await insertSessions(large!, 600, 70);
      await insertSessions(small!, 10, 80);
      await insertSessions(late!, 10, 40);
      /** Removes so many batches, and answers what is left of each. */
      const prune = async (batches: number) => {
        let left = batches;
        await pruneSessions(server.database.db, () => left-- > 0);
        const counts = await Promise.all([large!, small!, late!].map(countRows));
        return counts.map((count) => count!.sessions);
      };
      expect(await prune(0)).toEqual([1100, 10, 10]);
      expect(await prune(1)).toEqual([600, 10, 10]);
      expect(await prune(1)).toEqual([600, 0, 10]);
      expect(await prune(2)).toEqual([100, 0, 0]);
      expect(await prune(1)).toEqual([0, 0, 0]);
    });
  });

  describe('counts by minute', () => {
    it('are removed after 38 days', async () => {
      const customer = await Customer.create(server, [], 'enterprise');
      const { sql } = server.database.db;
      await sql`insert into minute_counts (integration_id, scope, value, minute, sessions, scored, score_micros)
                select ${customer.id}, 'user', 'u', now() - days * interval '1 day', '{1}', 0, 0 from generate_series(37, 39) days`;
      await sql`insert into incident_counts (integration_id, kind, scope, value, minute, type, severity, incidents)
                select ${customer.id}, 'FailedDelivery', 'integration', '', now() - days * interval '1 day', '', '', 1
                  from generate_series(37, 39) days`;
      await pruneSessions(server.database.db);
      const [left] = await sql`
        select (select count(*)::int from minute_counts where integration_id = ${customer.id}) as sessions,
               (select count(*)::int from incident_counts where integration_id = ${customer.id}) as incidents`;
      expect(left).toEqual({ sessions: 1, incidents: 1 });
    });
  });

  describe('counts by hour, day and week', () => {
    it('are removed after 100 days, and those of all time stay', async () => {
      const customer = await Customer.create(server, [], 'enterprise');
      const { sql } = server.database.db;
      const starts = (grains: string[]) => sql`
        (select grain, now() - days * interval '1 day' as start
           from unnest(${`{${grains}}`}::text::text[]) grain, generate_series(99, 101) days) s`;
      await sql`insert into session_rollups
                select ${customer.id}, grain, start, '{1}', 0, 0, 0, 0, 0, 0, 0, 0, '{}' from ${starts(['hour', 'day', 'all'])}`;
      await sql`insert into dimension_rollups (integration_id, grain, start, dimension, value, sessions)
                select ${customer.id}, grain, start, 'origin', 'o', '{1}' from ${starts(['hour', 'day', 'week'])}`;
      for (const kind of ['user', 'device'])
        await sql`insert into seen_steps (integration_id, kind, grain, start, count)
                  select ${customer.id}, ${kind}, grain, start, '{1}' from ${starts(['hour', 'day'])}`;
      await pruneSessions(server.database.db);
      const left = await sql`
        select name, count(*)::int from (
          select integration_id, grain as name from session_rollups
           union all select integration_id, 'dimension ' || grain from dimension_rollups
           union all select integration_id, kind || ' ' || grain from seen_steps) r
         where integration_id = ${customer.id} group by 1`;
      expect(Object.fromEntries(left.map(({ name, count }) => [name, count]))).toEqual({
        ...{ hour: 1, day: 1, all: 3, 'dimension hour': 1, 'dimension day': 1, 'dimension week': 1 },
        ...{ 'user hour': 1, 'user day': 1, 'device hour': 1, 'device day': 1 },
      });
    });
  });
}
