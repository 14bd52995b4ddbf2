import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { createName } from '../../support/workflow-engines';
import type { RuleBench } from './rule-bench';

export function registerFailureRules(bench: RuleBench) {
  const { it } = bench;
  it.concurrent('calls a function that throws as often again as its retries say, and no more', async ({ startApp }) => {
    const go = createName('go');
    const attempts: Record<number, number[]> = { 0: [], 1: [] };
    const app = await startApp((client) =>
      [0, 1].map((retries) =>
        client.createFunction(
          { id: `f-${retries}`, triggers: [{ event: go }], retries: retries as 0 | 1 },
          async ({ attempt }) => {
            attempts[retries]!.push(attempt);
            throw new Error('no');
          },
        ),
      ),
    );
    await app.send({ name: go });
    await bench.eventually(() => expect(attempts[1]).toEqual([0, 1]));
    // Another attempt of the first function would have come with the second attempt of the second one. Another attempt
    // of the second would take about as long.
    await delay(800);
    expect(attempts).toEqual({ 0: [0], 1: [0, 1] });
  });

  it.concurrent('retries only the failed step, and gives its last error to the function', async ({ startApp }) => {
    const go = createName('go');
    const notes: string[] = [];
    const app = await startApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: go }], retries: 1 }, async ({ step }) => {
        await step.run('fine', () => void notes.push('fine'));
        const caught = await step
          .run('bad', () => {
            notes.push('bad');
            throw new Error(`no ${notes.length}`);
          })
          .catch((error: Error) => error.message);
        await step.run('end', () => void notes.push(`caught ${caught}`));
      }),
    ]);
    await app.send({ name: go });
    await bench.eventually(() => expect(notes).toEqual(['fine', 'bad', 'bad', 'caught no 3']));
  });

  it.concurrent('continues with the result of a step that failed at first', async ({ startApp }) => {
    const go = createName('go');
    const notes: unknown[] = [];
    const app = await startApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: go }], retries: 4 }, async ({ step }) => {
        await step.run('fine', () => void notes.push('fine'));
        const result = await step.run('bad', () => {
          if (notes.push('bad') === 2) throw new Error('no');
          return { n: 7 };
        });
        await step.run('end', () => void notes.push(result));
      }),
    ]);
    await app.send({ name: go });
    await bench.eventually(() => expect(notes).toEqual(['fine', 'bad', 'bad', { n: 7 }]));
  });

  it('does not let a failing run delay the next run of its key or other runs', async ({ startApp }) => {
    const go = createName('go');
    const done: number[] = [];
    let failures = 0;
    const app = await startApp((client) => [
      client.createFunction(
        { id: 'f', triggers: [{ event: go }], retries: 0, concurrency: { limit: 1, key: 'event.data.key' } },
        async ({ event, step }) => {
          await step.run('work', () => {
            if (event.data.isBad && ++failures) throw new Error('no');
            done.push(event.data.n);
          });
        },
      ),
    ]);
    await app.send({ name: go, data: { key: 'a', isBad: true, n: 1 } });
    await app.send([
      { name: go, data: { key: 'a', isBad: false, n: 2 } },
      { name: go, data: { key: 'b', isBad: false, n: 3 } },
    ]);
    await bench.eventually(() => expect(done.sort()).toEqual([2, 3]));
    await bench.eventually(() => expect(failures).toBe(1));
  });
}
