import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { createGate } from '../../support/gate';
import { createName, type EngineApp } from '../../support/workflow-engines';
import type { RuleBench } from './rule-bench';

/** Counts how many runs or steps of each key are at work, and the most there ever were. */
class Gauge {
  private readonly now = new Map<string, number>();
  readonly most = new Map<string, number>();

  async hold(keys: string[], work: () => Promise<unknown>): Promise<void> {
    for (const key of keys) this.add(key, 1);
    await work();
    for (const key of keys) this.add(key, -1);
  }

  private add(key: string, difference: number) {
    const count = (this.now.get(key) ?? 0) + difference;
    this.now.set(key, count);
    this.most.set(key, Math.max(this.most.get(key) ?? 0, count));
  }
}

function send(app: EngineApp, name: string, items: object[]): Promise<string[]> {
  return app.send(items.map((data) => ({ name, data })));
}

export function registerConcurrencyRules(bench: RuleBench) {
  const { it } = bench;
  it('runs one run of a key at a time, in parallel with other keys', async ({ startApp }) => {
    const go = createName('go');
    const gauge = new Gauge();
    const done: number[] = [];
    const app = await startApp((client) => [
      client.createFunction(
        { id: 'f', triggers: [{ event: go }], concurrency: { limit: 1, key: 'event.data.key' } },
        async ({ event }) => {
          await gauge.hold([event.data.key, 'all'], async () => {
            // Until two keys are at work, however late the engine starts the second one.
            await bench.eventually(() => expect(gauge.most.get('all')).toBeGreaterThan(1));
            await delay(200);
          });
          done.push(event.data.n);
        },
      ),
    ]);
    const runs = Array.from({ length: 9 }, (_, n) => ({ key: 'abc'[n % 3], n }));
    await send(app, go, runs);
    await bench.eventually(() => expect([...done].sort()).toEqual(runs.map(({ n }) => n)));
    expect(gauge.most.get('all')).toBeGreaterThan(1);
    for (const key of 'abc') expect(gauge.most.get(key)).toBe(1);
  });

  it('starts a run that waits for its key soon after the previous run ends', async ({ startApp }) => {
    const go = createName('go');
    const times: number[] = [];
    const app = await startApp((client) => [
      client.createFunction(
        { id: 'f', triggers: [{ event: go }], concurrency: { limit: 1, key: 'event.data.key' } },
        async () => {
          times.push(Date.now());
          await delay(500);
          times.push(Date.now());
        },
      ),
    ]);
    await send(app, go, [{ key: 'a' }]);
    await bench.eventually(() => expect(times).toHaveLength(1));
    await send(app, go, [{ key: 'a' }]);
    await bench.eventually(() => expect(times).toHaveLength(4));
    const waitedMs = times[2]! - times[1]!;
    expect(waitedMs).toBeGreaterThanOrEqual(0);
    expect(waitedMs).toBeLessThan(bench.engine.latenessMs);
  });

  it.concurrent('runs as many steps of a key at a time as the limit says, after a sleep too', async ({ startApp }) => {
    const go = createName('go');
    const gauge = new Gauge();
    const done: number[] = [];
    const app = await startApp((client) => [
      client.createFunction(
        { id: 'f', triggers: [{ event: go }], concurrency: { limit: 3, key: 'event.data.key' } },
        async ({ event, step }) => {
          await step.sleepUntil('wait', event.data.until);
          await step.run('work', () =>
            gauge.hold([event.data.key, 'all'], async () => {
              // Until both keys are at work, however late the engine starts the second one.
              await bench.eventually(() => {
                expect(gauge.most.get(event.data.key)).toBe(3);
                expect(gauge.most.get('all')).toBeGreaterThan(3);
              });
              await delay(100);
            }),
          );
          await step.run('end', () => void done.push(event.data.n));
        },
      ),
    ]);
    const until = new Date(Date.now() + 1000).toISOString();
    await send(
      app,
      go,
      Array.from({ length: 12 }, (_, n) => ({ key: 'ab'[n % 2], n, until })),
    );
    await bench.eventually(() => expect(done).toHaveLength(12));
    expect(new Set(done).size).toBe(12);
    for (const key of 'ab') expect(gauge.most.get(key)).toBe(3);
    expect(gauge.most.get('all')).toBeGreaterThan(3);
  });

  it.concurrent('does not let a hanging key delay other keys, however many of its runs wait', async ({ startApp }) => {
    const go = createName('go');
    const done: string[] = [];
    const hanging = createGate();
    const app = await startApp((client) => [
      client.createFunction(
        { id: 'f', triggers: [{ event: go }], concurrency: { limit: 1, key: 'event.data.key' } },
        async ({ event }) => {
          if (event.data.key === 'hanging') await hanging.opened;
          done.push(event.data.key);
        },
      ),
    ]);
    try {
      await send(app, go, Array(40).fill({ key: 'hanging' }));
      await send(
        app,
        go,
        ['a', 'b', 'c'].map((key) => ({ key })),
      );
      await bench.eventually(() => expect(done.sort()).toEqual(['a', 'b', 'c']));
    } finally {
      hanging.open();
    }
    await bench.eventually(() => expect(done).toHaveLength(43));
  });

  it.concurrent('gives the slot of a sleeping run to the next run of its key', async ({ startApp }) => {
    const go = createName('go');
    const notes: string[] = [];
    const app = await startApp((client) => [
      client.createFunction(
        { id: 'f', triggers: [{ event: go }], concurrency: { limit: 1, key: 'event.data.key' } },
        async ({ event, step }) => {
          if (!event.data.napMs) return void notes.push('second');
          await step.run('before', () => void notes.push('before'));
          await step.sleep('nap', event.data.napMs);
          await step.run('after', () => void notes.push('after'));
        },
      ),
    ]);
    await send(app, go, [{ key: 'a', napMs: 1000 + bench.engine.latenessMs }]);
    await bench.eventually(() => expect(notes).toEqual(['before']));
    await send(app, go, [{ key: 'a' }]);
    await bench.eventually(() => expect(notes).toEqual(['before', 'second', 'after']));
  });
}
