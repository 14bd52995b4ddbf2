import { expect } from 'vitest';
import { createName } from '../../support/workflow-engines';
import type { RuleBench } from './rule-bench';

export function registerStepRules(bench: RuleBench) {
  const { it } = bench;
  it('calls a function without steps once, and accepts any value it returns', async ({ startApp }) => {
    const go = createName('go');
    const seen: string[] = [];
    const app = await startApp((client) =>
      [undefined, null, 0, 'text', { a: [1] }].map((value, n) =>
        client.createFunction({ id: `f-${n}`, triggers: [{ event: go }], retries: 1 }, async ({ event }) => {
          seen.push(`${n} ${event.data.round}`);
          return value;
        }),
      ),
    );
    for (const round of [1, 2]) {
      await app.send({ name: go, data: { round } });
      const expected = [0, 1, 2, 3, 4].flatMap((n) => [1, 2].slice(0, round).map((past) => `${n} ${past}`));
      await bench.eventually(() => expect(seen.sort()).toEqual(expected));
    }
  });

  it.concurrent('executes a step once, although the function is called again for the next steps', async ({
    startApp,
  }) => {
    const go = createName('go');
    const executed: string[] = [];
    let calls = 0;
    const app = await startApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: go }] }, async ({ step }) => {
        calls++;
        await step.run('one', () => void executed.push('one'));
        await step.sleep('nap', '1s');
        await step.run('two', () => void executed.push('two'));
        await step.run('three', () => void executed.push('three'));
      }),
    ]);
    await app.send({ name: go });
    await bench.eventually(() => expect(executed).toEqual(['one', 'two', 'three']));
    expect(calls).toBeGreaterThan(1);
  });

  it.concurrent("gives a step's result to the next steps, also after a sleep", async ({ startApp }) => {
    const go = createName('go');
    const results = [
      { attempt: 2, dueAt: '2026-01-31T09:30:00.123Z', nested: { a: [] } },
      [1, 'b'],
      null,
      'é',
      0.5,
      false,
    ];
    let seen: unknown;
    const app = await startApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: go }] }, async ({ step }) => {
        const kept: unknown[] = [];
        for (const [n, result] of results.entries()) kept.push(await step.run(`step-${n}`, () => result));
        await step.sleep('nap', '1s');
        await step.run('end', () => {
          seen = kept;
        });
      }),
    ]);
    await app.send({ name: go });
    await bench.eventually(() => expect(seen).toEqual(results));
  });

  it.concurrent('completes a loop of waits and attempts in which each step decides on the next', async ({
    startApp,
  }) => {
    const go = createName('go');
    const attempts: number[] = [];
    let isOver = false;
    const app = await startApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: go }] }, async ({ event, step }) => {
        let next: { attempt: number; dueAt: string } | null = event.data;
        while (next) {
          const { attempt, dueAt }: { attempt: number; dueAt: string } = next;
          await step.sleepUntil(`wait-${attempt}`, dueAt);
          next = await step.run(`attempt-${attempt}`, () => {
            attempts.push(attempt);
            return attempt < 6 ? { attempt: attempt + 1, dueAt: new Date(Date.now() + 50).toISOString() } : null;
          });
        }
        isOver = true;
      }),
    ]);
    await app.send({ name: go, data: { attempt: 2, dueAt: new Date().toISOString() } });
    await bench.eventually(() => expect(isOver).toBe(true));
    expect(attempts).toEqual([2, 3, 4, 5, 6]);
  });

  it('wakes a run at its instant', async ({ startApp }) => {
    const go = createName('go');
    let wokenAt = 0;
    const app = await startApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: go }] }, async ({ event, step }) => {
        await step.sleepUntil('nap', event.data.until);
        await step.run('woken', () => {
          wokenAt = Date.now();
        });
      }),
    ]);
    const until = Date.now() + 1000;
    await app.send({ name: go, data: { until: new Date(until).toISOString() } });
    await bench.eventually(() => expect(wokenAt).toBeGreaterThan(0));
    expect(wokenAt).toBeGreaterThanOrEqual(until - bench.engine.earlinessMs);
    expect(wokenAt).toBeLessThan(until + bench.engine.latenessMs);
  });

  it('continues at once if the instant has passed', async ({ startApp }) => {
    const go = createName('go');
    let wokenAt = 0;
    const app = await startApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: go }] }, async ({ event, step }) => {
        await step.sleepUntil('nap', event.data.until);
        wokenAt = Date.now();
      }),
    ]);
    const sentAt = Date.now();
    await app.send({ name: go, data: { until: new Date(sentAt - 3_600_000).toISOString() } });
    await bench.eventually(() => expect(wokenAt).toBeGreaterThan(0));
    expect(wokenAt).toBeLessThan(sentAt + 2 * bench.engine.latenessMs);
  });

  it('sleeps for the given time', async ({ startApp }) => {
    const go = createName('go');
    const times: number[] = [];
    const app = await startApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: go }], retries: 0 }, async ({ step }) => {
        await step.run('before', () => void times.push(Date.now()));
        await step.sleep('nap', '1s');
        await step.run('after', () => void times.push(Date.now()));
      }),
    ]);
    await app.send({ name: go });
    await bench.eventually(() => expect(times).toHaveLength(2));
    const sleptMs = times[1]! - times[0]!;
    expect(sleptMs).toBeGreaterThanOrEqual(1000);
    expect(sleptMs).toBeLessThan(1000 + 2 * bench.engine.latenessMs);
  });
}
