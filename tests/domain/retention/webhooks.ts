import { describe, expect, it, vi } from 'vitest';
import { BATCH_SIZE } from '../../../server/domain/retention';
import { sweepDeliveries } from '../../../server/webhooks/deliveries';
import {
  pruneAnswers,
  pruneDeliveries,
  pruneEvents,
  prunePreviousSecrets,
  pruneSubscriptions,
} from '../../../server/webhooks/retention';
import { Customer } from '../../support/customer';
import { countRead, explainStatement } from '../../support/plans';
import { recordStatements } from '../../support/statements';
import { insertWebhooks, server, sessionOf } from './shared-server';

// Old events and deliveries, and deleted subscriptions.

export function registerWebhookTests(): void {
  describe('events that fired longer ago than the plan’s retention', () => {
    /** Inserts events that fired so many days ago, each with so many deliveries. */
    const insertEvents = ({ id }: Customer, count: number, days: number, deliveries = 0) => server.database.db.sql`
      with fired as (
        insert into domain_events (integration_id, id, type, natural_key, payload, created_at)
        select ${id}, 'evt-' || ${days}::text || '-' || n, 'BotDetected', ${days}::text || '-' || n, '{}', now() - ${days} * interval '1 day'
          from generate_series(1, ${count}) n returning *)
      insert into webhook_deliveries (integration_id, id, subscription_id, event_id, status, attempts, created_at, finished_at)
      select integration_id, id, 'whk', id, 'Delivered', 1, created_at, now() from fired, generate_series(1, ${deliveries})`;
    const listEvents = ({ id }: Customer) => server.database.db.sql<{ days: string; count: number }[]>`
      select split_part(natural_key, '-', 1) as days, count(*)::int from domain_events where integration_id = ${id} group by 1 order by 1`;

    it.each([
      ['free', 31],
      ['pro', 366],
    ] as const)(
      'are removed on %s after %i days, except those that the log of deliveries shows',
      async (plan, days) => {
        const customer = await Customer.create(server, [], plan);
        const neighbour = await Customer.create(server, [], 'enterprise');
        await insertEvents(customer, 1_200, days);
        await insertEvents(customer, 2, days + 1, 1);
        await insertEvents(customer, 3, days - 2);
        await insertEvents(neighbour, 4, days);
        expect(await pruneEvents(server.database.db)).toBe(1_200);
        expect(await listEvents(customer)).toEqual(
          expect.arrayContaining([
            { days: `${days + 1}`, count: 2 },
            { days: `${days - 2}`, count: 3 },
          ]),
        );
        expect(await listEvents(neighbour)).toEqual([{ days: `${days}`, count: 4 }]);
      },
    );
  });

  describe('answers of receivers', () => {
    it('are removed after seven days, each by itself', async () => {
      const customer = await Customer.create(server, [], 'free');
      const neighbour = await Customer.create(server, [], 'free');
      const { sql } = server.database.db;
      await sql`
        insert into webhook_answers (integration_id, delivery_id, resend, attempt, received_at, headers, body, is_cut)
        select integration_id, delivery_id, resend, attempt, now() - days * interval '1 day', '{}', '', false
          from (values (${customer.id}, 'one', 0, 1, 8), (${customer.id}, 'one', 0, 2, 6), (${customer.id}, 'one', 1, 1, 6),
                       (${customer.id}, 'two', 0, 1, 6), (${neighbour.id}, 'one', 0, 1, 6))
               a(integration_id, delivery_id, resend, attempt, days)`;
      expect(await pruneAnswers(server.database.db, true)).toBe(1);
      const left = await sql`
        select delivery_id || resend || attempt as answer from webhook_answers
         where integration_id in (${customer.id}, ${neighbour.id}) order by 1`;
      expect(left.map(({ answer }) => answer)).toEqual(['one01', 'one02', 'one11', 'two01']);
    });
  });

  describe('deliveries beyond the log', () => {
    it('are removed in turn, and no more when the time of a run is over', async () => {
      const [large, small] = await Promise.all([1, 2].map(() => Customer.create(server, [], 'free')));
      const insert = ({ id }: Customer, count: number, days: number) => server.database.db.sql`
        insert into webhook_deliveries (integration_id, id, subscription_id, status, finished_at)
        select ${id}, 'dlv-' || n, 'whk', 'Delivered', now() - ${days} * interval '1 day' from generate_series(1, ${count}::int) n`;
      await pruneDeliveries(server.database.db);
      await insert(large!, 600, 50);
      await insert(small!, 10, 40);
      const prune = async (batches: number) => {
        let left = batches;
        await pruneDeliveries(server.database.db, () => left-- > 0);
        const rows = await server.database.db.sql`
          select integration_id as id from webhook_deliveries where integration_id in (${large!.id}, ${small!.id})`;
        return [large!, small!].map((customer) => rows.filter(({ id }) => id === customer.id).length);
      };
      expect(await prune(0)).toEqual([600, 10]);
      expect(await prune(2)).toEqual([100, 0]);
      expect(await prune(1)).toEqual([0, 0]);
    });

    it('are removed also if the search for them takes longer than a run', async () => {
      const customer = await Customer.create(server, [], 'free');
      const { db } = server.database;
      await pruneDeliveries(db);
      await db.sql`
        insert into webhook_deliveries (integration_id, id, subscription_id, status, finished_at)
        select ${customer.id}, 'dlv-' || n, 'whk', 'Delivered', now() - interval '50 days' from generate_series(1, 10) n`;
      const now = performance.now.bind(performance);
      let passedMs = 0;
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
      const transact: typeof db.transact = async (work, options) => {
        const result = await db.transact(work, options);
        passedMs += 60_000;
        return result;
      };
      expect(await pruneDeliveries({ ...db, transact }).finally(() => clock.mockRestore())).toBe(10);
    });
  });

  describe('deleted subscriptions', () => {
    it('are removed after an hour, once the log of deliveries shows nothing of them', async () => {
      const customer = await Customer.create(server, [], 'enterprise');
      const { sql } = server.database.db;
      await insertWebhooks(customer, [
        ['gone', 61],
        ['logged', 61],
        ['fresh', 59],
        ['live', null],
      ]);
      await sql`
        insert into webhook_deliveries (integration_id, id, subscription_id, status, finished_at)
        values (${customer.id}, 'dlv', 'logged', 'Delivered', now())`;
      expect(await pruneSubscriptions(server.database.db)).toBe(1);
      const left = await sql`select id from webhook_subscriptions where integration_id = ${customer.id} order by id`;
      expect(left.map(({ id }) => id)).toEqual(['fresh', 'live', 'logged']);
    });

    it('are not waited for by deliveries, also if no sweep ran while they were deleted', async () => {
      const customer = await Customer.create(server, [], 'enterprise');
      const { sql } = server.database.db;
      await insertWebhooks(customer, [
        ['gone', 61],
        ['live', null],
      ]);
      await sql`
        insert into webhook_deliveries (integration_id, id, subscription_id, next_attempt_at)
        select ${customer.id}, name, name, now() - interval '1 hour' from (values ('gone'), ('live')) s(name)`;
      await pruneSubscriptions(server.database.db);
      const left =
        await sql`select id, status from webhook_deliveries where integration_id = ${customer.id} order by id`;
      expect(left).toEqual([
        { id: 'gone', status: 'PoisonAborted' },
        { id: 'live', status: 'Pending' },
      ]);
    });

    it('have their deliveries ended in small transactions', async () => {
      const customer = await Customer.create(server, [], 'enterprise');
      const { sql } = server.database.db;
      await insertWebhooks(customer, [['gone', 120]]);
      await sql`
        insert into webhook_deliveries (integration_id, id, subscription_id, next_attempt_at)
        select ${customer.id}, 'dlv-' || n, 'gone', now() from generate_series(1, ${BATCH_SIZE + 1}::int) n`;
      await pruneSubscriptions(server.database.db);
      const transactions = await sql`
        select status, count(*)::int from webhook_deliveries where integration_id = ${customer.id} group by status, xmin::text order by 2`;
      expect(transactions).toEqual([1, BATCH_SIZE].map((count) => ({ status: 'PoisonAborted', count })));
    });

    it('are read by none of the statements that run often, however many there are', async () => {
      const customer = await Customer.create(server, [], 'enterprise');
      const { db, log } = server.service;
      const body = { url: 'https://example.com/', eventType: 'BotDetected', enabled: false };
      const { id } = (await customer.post('/v1/webhooks', body)).body.data;
      // No statement may take longer than the database allows.
      for (const from of [0, 10_000, 20_000]) {
        const ids = Array.from({ length: 10_000 }, (_, n) => `gone-${from + n}`);
        await insertWebhooks(
          customer,
          ids.map((one) => [one, 120]),
        );
        await db.sql`
          insert into webhook_deliveries (integration_id, id, subscription_id, status, finished_at)
          select ${customer.id}, 'dlv-' || id, id, 'Delivered', now() from json_array_elements_text(${JSON.stringify(ids)}::text::json) id`;
      }
      await db.sql`analyze webhook_subscriptions, webhook_deliveries`;
      const recording = recordStatements(db);
      await customer.accept(sessionOf('s', 1, 0.9));
      await customer.get('/v1/webhooks');
      await customer.post('/v1/webhooks', body);
      await server.call('PATCH', `/v1/webhooks/${id}`, { key: customer.key, body: { enabled: true } });
      await sweepDeliveries(db, log);
      await prunePreviousSecrets(db);
      const statements = recording.take().filter(({ text }) => /^\s*(select|with) .*webhook_subscriptions/s.test(text));
      recording.stop();
      expect(statements.length).toBeGreaterThan(8);
      for (const statement of statements)
        for (const plan of ['custom', 'generic'] as const) {
          const nodes = await explainStatement(db.sql, statement, plan);
          const reads = nodes.filter((node) => node['Relation Name'] === 'webhook_subscriptions').map(countRead);
          expect(Math.max(...reads), statement.text).toBeLessThan(100);
        }
    });
  });
}
