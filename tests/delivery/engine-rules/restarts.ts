import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { createName } from '../../support/workflow-engines';
import type { RuleBench, StartApp } from './rule-bench';

export function registerRestartRules(bench: RuleBench) {
  const { it } = bench;
  async function startSleeper(startApp: StartApp) {
    const go = createName('go');
    const notes: string[] = [];
    let wokenAt = 0;
    const app = await startApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: go }], retries: 4 }, async ({ event, step }) => {
        await step.run('before', () => void notes.push('before'));
        await step.sleepUntil('nap', event.data.until);
        await step.run('after', () => {
          wokenAt = Date.now();
          notes.push('after');
        });
      }),
    ]);
    return {
      app,
      notes,
      wokenAt: () => wokenAt,
      /** Lets the run sleep for so many milliseconds from now. Answers the instant at which it must wake. */
      async sleep(ms: number) {
        const until = Date.now() + ms;
        await app.send({ name: go, data: { until: new Date(until).toISOString() } });
        await bench.eventually(() => expect(notes).toEqual(['before']));
        // Gives the engine time to record the sleep.
        await delay(300);
        return until;
      },
    };
  }

  it('wakes a run in the application that was restarted while it slept', async ({ startApp }) => {
    const { app, notes, wokenAt, sleep } = await startSleeper(startApp);
    const until = await sleep(1500);
    await app.leave();
    await app.comeBack();
    await bench.eventually(() => expect(notes).toEqual(['before', 'after']));
    expect(wokenAt()).toBeGreaterThanOrEqual(until - bench.engine.earlinessMs);
    expect(wokenAt()).toBeLessThan(until + bench.engine.latenessMs);
  });

  it.concurrent('wakes a run that was due while the application was away', async ({ startApp }) => {
    const { app, notes, sleep } = await startSleeper(startApp);
    const until = await sleep(1500);
    await app.leave();
    await delay(until + 500 - Date.now());
    expect(notes).toEqual(['before']);
    await app.comeBack();
    await bench.eventually(() => expect(notes).toEqual(['before', 'after']));
  });

  it.concurrent('repeats the step that the end of the application interrupted, and no finished step', async ({
    startApp,
  }) => {
    const go = createName('go');
    const notes: string[] = [];
    const app = await startApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: go }], retries: 4 }, async ({ step }) => {
        await step.run('first', () => void notes.push('first'));
        await step.run('second', async () => {
          // The interrupted call never ends: it must not report anything after the restart.
          if (notes.push('second') === 2) await new Promise(() => {});
        });
        await step.run('third', () => void notes.push('third'));
      }),
    ]);
    await app.send({ name: go });
    await bench.eventually(() => expect(notes).toEqual(['first', 'second']));
    await app.leave();
    await app.comeBack();
    await bench.eventually(() => expect(notes).toEqual(['first', 'second', 'second', 'third']));
  });

  it.concurrent('runs events that were sent while the application was away', async ({ startApp }) => {
    const go = createName('go');
    const seen: number[] = [];
    const app = await startApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: go }], retries: 4 }, async ({ event }) => {
        seen.push(event.data.n);
      }),
    ]);
    await app.leave();
    await app.send([1, 2].map((n) => ({ name: go, data: { n } })));
    await delay(500);
    expect(seen).toEqual([]);
    await app.comeBack();
    await bench.eventually(() => expect(seen.sort()).toEqual([1, 2]));
  });
}
