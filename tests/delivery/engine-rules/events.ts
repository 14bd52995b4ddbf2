import { expect } from 'vitest';
import { createName } from '../../support/workflow-engines';
import type { RuleBench } from './rule-bench';

export function registerEventRules(bench: RuleBench) {
  const { it } = bench;
  it('starts a function with the name, id and data of its event', async ({ startApp }) => {
    const go = createName('go');
    const seen: unknown[] = [];
    const app = await startApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: go }] }, async ({ event }) => {
        seen.push([event.name, event.id, event.data]);
      }),
    ]);
    const ids = await app.send({ name: go, data: { n: 1 } });
    await bench.eventually(() => expect(seen).toEqual([[go, ids[0], { n: 1 }]]));
  });

  it('starts every function of every event of one send once', async ({ startApp }) => {
    const [one, two, nobody] = ['one', 'two', 'nobody'].map(createName) as [string, string, string];
    const seen: string[] = [];
    const app = await startApp((client) =>
      ['f', 'g'].map((id) =>
        client.createFunction({ id, triggers: [{ event: one }, { event: two }] }, async ({ event }) => {
          seen.push(`${id} ${event.name === one ? 'one' : 'two'} ${event.data.n}`);
        }),
      ),
    );
    const sent = [
      { name: one, data: { n: 1 } },
      { name: two, data: { n: 2 } },
      { name: nobody, data: {} },
      { name: one, data: { n: 3 } },
    ];
    expect(new Set(await app.send(sent)).size).toBe(4);
    const expected = ['f one 1', 'f one 3', 'f two 2', 'g one 1', 'g one 3', 'g two 2'];
    await bench.eventually(() => expect(seen.sort()).toEqual(expected));
  });

  it('starts a run for each of 500 events in one send', async ({ startApp }) => {
    const go = createName('go');
    const seen: number[] = [];
    const app = await startApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: go }] }, async ({ event }) => {
        seen.push(event.data.n);
      }),
    ]);
    const numbers = Array.from({ length: 500 }, (_, n) => n);
    await app.send(numbers.map((n) => ({ name: go, data: { n } })));
    // Counts first: comparing 500 numbers at every look would slow the runs.
    await bench.eventually(() => expect(seen.length).toBeGreaterThanOrEqual(numbers.length));
    expect(seen.sort((a, b) => a - b)).toEqual(numbers);
  });

  it('starts the runs of an event id only once, however often it is sent', async ({ startApp }) => {
    const [go, id] = [createName('go'), createName('id')];
    const seen: string[] = [];
    const app = await startApp((client) =>
      ['f', 'g'].map((name) =>
        client.createFunction({ id: name, triggers: [{ event: go }] }, async ({ event }) => {
          seen.push(`${name} ${event.data.n}`);
        }),
      ),
    );
    const first = { name: go, id, data: { n: 1 } };
    await app.send([first, first]);
    await app.send(first);
    await app.send({ name: go, id: `${id}-other`, data: { n: 2 } });
    const expected = ['f 1', 'f 2', 'g 1', 'g 2'];
    await bench.eventually(() => expect(seen.sort()).toEqual(expected));
    await app.send(first);
    await app.send({ name: go, data: { n: 3 } });
    await bench.eventually(() => expect(seen.sort()).toEqual(['f 1', 'f 2', 'f 3', 'g 1', 'g 2', 'g 3']));
  });

  it('delivers data as it was sent: in any script, nested, empty, tens of kilobytes', async ({ startApp }) => {
    const go = createName('go');
    const data = {
      text: 'Grüße, 日本語, 🦊, e\u0301, \u2028, \u0001, \t"quoted" \\ </script> %20 \'$1',
      'key with spaces.and.dots': true,
      nested: { list: [1, 'a', null, { deep: [[[]], {}] }], none: null, empty: '' },
      numbers: [0, -1, 0.1, 1e-7, 1.5e300, Number.MAX_SAFE_INTEGER],
      at: '2026-01-31T09:30:00.123Z',
      large: 'é€🦊x'.repeat(6000),
    };
    const seen: unknown[] = [];
    const app = await startApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: go }] }, async ({ event, step }) => {
        const { large } = await step.run('large', () => ({ large: event.data.large }));
        await step.run('end', () => void seen.push([event.data, large]));
      }),
    ]);
    await app.send({ name: go, data });
    await bench.eventually(() => expect(seen).toHaveLength(1));
    expect(seen).toEqual([[data, data.large]]);
  });

  it('starts the functions of events that a function sends, by a step or by the client', async ({ startApp }) => {
    const [go, next] = [createName('go'), createName('next')];
    const seen: string[] = [];
    const app = await startApp((client) => [
      client.createFunction({ id: 'f', triggers: [{ event: go }] }, async ({ step }) => {
        await step.sendEvent('send', { name: next, data: { by: 'step' } });
        await step.run('send-too', () => client.send({ name: next, data: { by: 'client' } }));
      }),
      client.createFunction({ id: 'g', triggers: [{ event: next }] }, async ({ event }) => {
        seen.push(event.data.by);
      }),
    ]);
    await app.send({ name: go });
    await bench.eventually(() => expect(seen.sort()).toEqual(['client', 'step']));
  });
}
