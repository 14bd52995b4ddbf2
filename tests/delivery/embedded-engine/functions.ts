import { setTimeout as delay } from 'node:timers/promises';
import { NonRetriableError, RetryAfterError } from 'inngest';
import { describe, expect, it } from 'vitest';
import { chooseBackoffMs } from '../../../inngest/embedded/executor';
import { Store } from '../../../inngest/embedded/store';
import { eventually } from '../../support/eventually';
import { countRuns, sql, startTestApp } from './applications';

interface FailureContext {
  error: Error;
  event: { data: { event: { data: { n: number } } } };
}

export function registerFunctionTests(): void {
  describe('steps', () => {
    it('runs parallel steps at the same time and joins them', async () => {
      let atWork = 0;
      let mostAtWork = 0;
      let calls = 0;
      let result: unknown;
      const { client } = await startTestApp((client) => [
        client.createFunction({ id: 'f', triggers: [{ event: 'go' }] }, async ({ step }) => {
          calls++;
          const work = (value: number) => async () => {
            mostAtWork = Math.max(mostAtWork, ++atWork);
            // However late the engine starts the second one.
            await eventually(() => expect(mostAtWork).toBe(2), 10_000);
            atWork--;
            return value;
          };
          const [a, b] = await Promise.all([step.run('a', work(1)), step.run('b', work(2)), step.sleep('c', '1s')]);
          result = [a, b, await step.run('after', () => 3)];
        }),
      ]);
      await client.send({ name: 'go' });
      await eventually(() => expect(result).toEqual([1, 2, 3]));
      expect(mostAtWork).toBe(2);
      // One call to plan, one for each of the two steps, one to continue when all three are done, and one to end.
      expect(calls).toBe(5);
      await eventually(async () => expect(await countRuns()).toBe(0));
    });

    it('keeps text that jsonb refuses', async () => {
      const odd = 'nul \u0000 and half a pair \ud800';
      let seen: unknown;
      const { client } = await startTestApp((client) => [
        client.createFunction({ id: 'f', triggers: [{ event: 'go' }] }, async ({ event, step }) => {
          const kept = await step.run('keep', () => odd);
          await step.run('next', () => 1);
          seen = [event.data.odd, kept];
        }),
      ]);
      await client.send({ name: 'go', data: { odd } });
      await eventually(() => expect(seen).toEqual([odd, odd]));
    });
  });

  describe('failures', () => {
    it('have all attempts for each step and after a sleep, also in a process that takes the run over there', async () => {
      /** Of each call its own, and as another process would read it. */
      const attempts: number[] = [];
      const readAttempt = async (attempt: number) =>
        void attempts.push(attempt, (await sql`select attempt from engine.run`)[0]!.attempt);
      let hasFailed = false;
      const { client } = await startTestApp((client) => [
        client.createFunction({ id: 'f', triggers: [{ event: 'go' }] }, async ({ step, attempt }) => {
          if (!hasFailed) {
            hasFailed = true;
            throw new RetryAfterError('not yet', 0);
          }
          await step.sleepUntil('nap', new Date(0));
          await step.run('first', async () => {
            if (attempt > 0) return;
            await readAttempt(attempt);
            throw new RetryAfterError('not yet', 0);
          });
          await step.run('second', () => readAttempt(attempt));
        }),
      ]);
      await client.send({ name: 'go' });
      await eventually(() => expect(attempts).toEqual([0, 0, 0, 0]));
    });

    it('of a parallel step are as many as the function says', async () => {
      const calls: number[] = [];
      const { client } = await startTestApp((client) => [
        client.createFunction({ id: 'f', triggers: [{ event: 'go' }], retries: 1 }, async ({ step, attempt }) => {
          const fail = () => {
            calls.push(attempt);
            throw new RetryAfterError('never', 0);
          };
          await Promise.all([step.run('bad', fail), step.run('good', () => 1)]);
        }),
      ]);
      await client.send({ name: 'go' });
      await eventually(async () => expect(await sql`select from engine.run where status = 'Failed'`).toHaveLength(1));
      expect(calls).toEqual([0, 1]);
    });

    it('retries as often as the function says, then fails the run and calls onFailure once', async () => {
      const attempts: number[] = [];
      const failures: unknown[] = [];
      const { client, errors } = await startTestApp((client) => [
        client.createFunction(
          {
            id: 'f',
            triggers: [{ event: 'go' }],
            retries: 1,
            onFailure: async ({ error, event }: FailureContext) =>
              void failures.push([error.message, event.data.event.data.n]),
          },
          async ({ attempt }) => {
            attempts.push(attempt);
            throw new Error('boom');
          },
        ),
        client.createFunction(
          { id: 'other', triggers: [{ event: 'never' }], onFailure: async () => void failures.push('of another') },
          async () => {},
        ),
      ]);
      await client.send({ name: 'go', data: { n: 5 } });
      await eventually(() => expect(failures).toEqual([['boom', 5]]));
      expect(attempts).toEqual([0, 1]);
      expect(errors).toContain('engine: run failed');
      // The run of the failure handler is deleted a moment after it ended.
      const runs = () => sql`select status, error->>'message' as message from engine.run`;
      await eventually(async () => expect(await runs()).toEqual([{ status: 'Failed', message: 'boom' }]));
    });

    it('does not retry a NonRetriableError, and waits as long as a RetryAfterError says', async () => {
      const times: number[] = [];
      let finalAttempts = 0;
      const { client } = await startTestApp((client) => [
        client.createFunction({ id: 'final', triggers: [{ event: 'go' }] }, async () => {
          finalAttempts++;
          throw new NonRetriableError('never');
        }),
        client.createFunction({ id: 'later', triggers: [{ event: 'go' }], retries: 1 }, async ({ attempt }) => {
          times.push(Date.now());
          if (attempt === 0) throw new RetryAfterError('soon', '1s');
        }),
      ]);
      await client.send({ name: 'go' });
      await eventually(() => expect(times.length).toBe(2));
      expect(times[1]! - times[0]!).toBeGreaterThan(900);
      expect(times[1]! - times[0]!).toBeLessThan(1900);
      expect(finalAttempts).toBe(1);
    });

    it('backs off from 2 s, doubling, to 10 minutes and a quarter', () => {
      expect(chooseBackoffMs(0)).toBeGreaterThanOrEqual(2000);
      expect(chooseBackoffMs(0)).toBeLessThanOrEqual(2500);
      expect(chooseBackoffMs(3)).toBeGreaterThanOrEqual(16_000);
      expect(chooseBackoffMs(40)).toBeLessThanOrEqual(750_000);
    });

    it('fails a run that asks for an operation the engine does not have', async () => {
      const { client, errors } = await startTestApp((client) => [
        client.createFunction({ id: 'f', triggers: [{ event: 'go' }] }, async ({ step }) => {
          await step.waitForEvent('wait', { event: 'other', timeout: '1h' });
        }),
      ]);
      await client.send({ name: 'go' });
      await eventually(async () => {
        const [run] = await sql`select error->>'message' as message from engine.run where status = 'Failed'`;
        expect(run?.message).toMatch(/does not support the operation WaitForEvent/);
      });
      expect(errors).toContain('engine: run failed');
    });
  });

  describe('events', () => {
    it('accepts an event id again after 24 hours', async () => {
      const seen: number[] = [];
      const { client } = await startTestApp((client) => [
        client.createFunction(
          { id: 'f', triggers: [{ event: 'go' }] },
          async ({ event }) => void seen.push(event.data.n),
        ),
      ]);
      const send = (n: number) => client.send({ name: 'go', id: 'same', data: { n } });
      await send(1);
      await eventually(() => expect(seen).toEqual([1]));
      await sql`update engine.event set received_at = now() - interval '23 hours 59 minutes'`;
      await send(2);
      await sql`update engine.event set received_at = now() - interval '24 hours 1 second'`;
      await send(3);
      await eventually(() => expect(seen).toEqual([1, 3]));
      await send(4);
      await eventually(async () => expect(await countRuns()).toBe(0));
      expect(seen).toEqual([1, 3]);
    });

    it('starts the runs of an event with a future ts at that time', async () => {
      let startedAt = 0;
      const { client } = await startTestApp((client) => [
        client.createFunction({ id: 'f', triggers: [{ event: 'go' }], concurrency: 1 }, async () => {
          startedAt = Date.now();
        }),
      ]);
      const ts = Date.now() + 1200;
      await client.send({ name: 'go', ts });
      await eventually(() => expect(startedAt).toBeGreaterThan(0));
      expect(startedAt).toBeGreaterThanOrEqual(ts);
    });

    it('refuses events over 512 KiB, and everything that is not an event', async () => {
      const { client, engine } = await startTestApp((client) => [
        client.createFunction({ id: 'f', triggers: [{ event: 'go' }] }, async () => {}),
      ]);
      await expect(client.send({ name: 'go', data: { text: 'x'.repeat(600_000) } })).rejects.toThrow(/512 KiB/);
      const post = async (events: object) =>
        (await engine.fetch('http://x.invalid/e/key', { method: 'POST', body: JSON.stringify(events) })).status;
      const go = (fields: object = {}) => ({ name: 'go', ...fields });
      const inDays = (days: number) => ({ ts: Date.now() + days * 86_400_000 });
      const ids = [{ id: 5 }, { id: 'x'.repeat(513) }, { id: 'a\0' }].map(go);
      // Of a list with one of them, nothing is started.
      for (const bad of [{}, { name: '' }, { name: 5 }, ...ids, go({ ts: 'soon' }), go(inDays(367))])
        expect([bad, await post(bad), await post([go(), bad])]).toEqual([bad, 400, 400]);
      expect(await post(Array.from({ length: 5_001 }, () => go()))).toBe(400);
      expect([await post([]), await countRuns()]).toEqual([200, 0]);
      expect(await post(go({ id: 'x'.repeat(512), ...inDays(365) }))).toBe(200);
      expect(await countRuns()).toBe(1);
      expect((await engine.fetch('http://x.invalid/v1/runs')).status).toBe(404);
      expect((await engine.fetch('http://x.invalid/fn/register', { method: 'POST', body: '{}' })).status).toBe(404);
    });

    it('removes old rows: events after a day, failed runs and those of unknown functions after a week', async () => {
      await startTestApp((client) => [
        client.createFunction({ id: 'known', triggers: [{ event: 'go' }] }, async () => {}),
      ]);
      await sql`insert into engine.event (id, received_at)
      values ('old', now() - interval '25 hours'), ('young', now() - interval '23 hours')`;
      await sql`insert into engine.run (function_id, event, status, ended_at)
      values ('old', '{}', 'Failed', now() - interval '8 days'), ('young', '{}', 'Failed', now() - interval '6 days')`;
      await sql`insert into engine.run (function_id, event, status, created_at)
      values ('gone', '{}', 'Sleeping', now() - interval '8 days'), ('app-known', '{}', 'Sleeping', now() - interval '8 days'),
             ('new', '{}', 'Running', now() - interval '6 days')`;
      expect(await new Store(sql).prune(['app-known'])).toBe(false);
      expect(await sql`select id from engine.event`).toEqual([{ id: 'young' }]);
      const left = (await sql`select function_id as id from engine.run order by id`).map(({ id }) => id);
      expect(left).toEqual(['app-known', 'new', 'young']);
    });
  });

  describe('concurrency', () => {
    it('keeps the limit of a key across engines, in order of arrival', async () => {
      const order: number[] = [];
      const engines = new Set<string>();
      let atWork = 0;
      let mostAtWork = 0;
      const apps = await Promise.all(
        ['a', 'b'].map((name) =>
          startTestApp((client) => [
            client.createFunction(
              { id: 'f', triggers: [{ event: 'go' }], concurrency: [{ limit: 1, key: 'event.data.key' }] },
              async ({ event }) => {
                mostAtWork = Math.max(mostAtWork, ++atWork);
                order.push(event.data.n);
                engines.add(name);
                await delay(20);
                atWork--;
              },
            ),
          ]),
        ),
      );
      for (let n = 0; n < 40; n++) await apps[n % 2]!.client.send({ name: 'go', data: { key: 'k', n } });
      await eventually(() => expect(order.length).toBe(40));
      expect(order).toEqual(Array.from({ length: 40 }, (_, n) => n));
      expect(mostAtWork).toBe(1);
      expect(engines.size).toBe(2);
    });
  });

  describe('a feature that only a real Inngest has', () => {
    const refused: [string, object][] = [
      ['"batchEvents"', { batchEvents: { maxSize: 2, timeout: '1s' } }],
      ['"debounce"', { debounce: { period: '1s' } }],
      ['"throttle"', { throttle: { limit: 1, period: '1s' } }],
      ['"rateLimit"', { rateLimit: { limit: 1, period: '1s' } }],
      ['"priority"', { priority: { run: '100' } }],
      ['"cancel"', { cancelOn: [{ event: 'stop' }] }],
      ['"idempotency"', { idempotency: 'event.data.id' }],
      ['"singleton"', { singleton: { mode: 'skip' } }],
      ['"timeouts"', { timeouts: { start: '1s' } }],
      ['concurrency key', { concurrency: { limit: 1, key: 'event.data.a + event.data.b' } }],
      ['concurrency scope', { concurrency: { limit: 1, scope: 'account', key: '"x"' } }],
      ['more than one concurrency', { concurrency: [{ limit: 1 }, { limit: 2, key: 'event.data.a' }] }],
      ['a trigger with "if"', { triggers: [{ event: 'go', if: 'event.data.n > 1' }] }],
      ['event pattern', { triggers: [{ event: 'go/*' }] }],
      ['cron expression', { triggers: [{ cron: 'TZ=Europe/Paris 0 * * * *' }] }],
    ];
    it.each(refused)('is refused at start: %s', async (what, options) => {
      const app = startTestApp((client) => [
        client.createFunction({ id: 'f', triggers: [{ event: 'go' }], ...options }, async () => {}),
      ]);
      await expect(app).rejects.toThrow(what);
    });
  });
}
