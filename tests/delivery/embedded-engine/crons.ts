import { Inngest } from 'inngest';
import { serve } from 'inngest/edge';
import { describe, expect, it } from 'vitest';
import { listCronRuns } from '../../../inngest/embedded/crons';
import { listFunctions } from '../../../inngest/embedded/functions';
import { Store } from '../../../inngest/embedded/store';
import { eventually } from '../../support/eventually';
import { countRuns, cronFirings, sql, startTestApp } from './applications';

export function registerCronTests(): void {
  describe('crons', () => {
    it('match the minute in UTC, each with a separate event id', async () => {
      const client = new Inngest({ id: 'app', isDev: true });
      const functions = await listFunctions(
        serve({
          client,
          functions: [
            client.createFunction(
              { id: 'f', triggers: [{ cron: '*/5 3 * * *' }, { cron: '5 * * * *' }] },
              async () => {},
            ),
          ],
        }),
      );
      const minute = (time: string) => Date.parse(`2026-11-21T${time}:00Z`) / 60_000;
      expect(listCronRuns(functions, minute('03:06'))).toEqual([]);
      expect(listCronRuns(functions, minute('03:10'))).toHaveLength(1);
      expect(new Set(listCronRuns(functions, minute('03:05')).map((run) => run.eventId)).size).toBe(2);
    });

    it('fire in the minutes for which they fired before the clock of the database was set back', async () => {
      const client = new Inngest({ id: 'app', isDev: true });
      const tick = client.createFunction({ id: 'tick', triggers: [{ cron: '* * * * *' }] }, async () => {});
      const functions = await listFunctions(serve({ client, functions: [tick] }));
      await startTestApp(() => []);
      const store = new Store(sql);
      const fire = async () => {
        await store.startRuns(listCronRuns(functions, Math.floor(Date.now() / 60_000) + 30));
        return countRuns();
      };
      expect(await fire()).toBe(1);
      await sql`update engine.event set received_at = now() + interval '30 minutes'`;
      await store.prune([]);
      expect(await fire()).toBe(2);
      // Other processes fire in the same minute.
      await store.prune([]);
      expect(await fire()).toBe(2);
    });
  });

  describe('at the end of the file', () => {
    it('a cron has fired once per minute, not once per process', async () => {
      await eventually(() => expect(cronFirings.length).toBeGreaterThan(0), 62_000);
      const minutes = cronFirings.map((firing) => firing.split(' ')[0]);
      expect(new Set(minutes).size).toBe(minutes.length);
      expect(minutes[0]).toMatch(/:00\.000Z$/);
    });
  });
}
