import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { createName } from '../../support/workflow-engines';
import type { RuleBench } from './rule-bench';

export function registerCronRules(bench: RuleBench) {
  const { it } = bench;
  it('starts a function by its cron when a minute begins, and by its event', async ({ startApp }) => {
    const go = createName('go');
    const starts: string[] = [];
    const app = await startApp((client) => [
      client.createFunction(
        { id: 'f', triggers: [{ cron: '* * * * *' }, { event: go }], retries: 0 },
        async ({ event, step }) => {
          await step.run('note', () => void starts.push(event.name === go ? 'event' : 'cron'));
        },
      ),
      client.createFunction({ id: 'rare', triggers: [{ cron: '0 0 29 2 *' }], retries: 0 }, async () => {
        starts.push('rare');
      }),
    ]);
    await app.send({ name: go });
    await bench.eventually(() => expect(starts).toContain('event'));
    await app.passMinute();
    await bench.eventually(() => expect(starts).toContain('cron'));
    // Everything that begins with the same minute has begun by now.
    await delay(500);
    expect(starts.filter((start) => start === 'event')).toHaveLength(1);
    expect(starts).not.toContain('rare');
  });
}
