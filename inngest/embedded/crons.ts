import type { EngineFunction } from './functions';
import { createRun } from './intake';
import type { NewRun } from './store';

const MINUTE_MS = 60_000;

/** Lists the runs that start at a minute (counted from the epoch). Their event ids ensure that only one process starts each. */
export function listCronRuns(functions: Iterable<EngineFunction>, minute: number): NewRun[] {
  const at = new Date(minute * MINUTE_MS);
  const digest = {
    min: at.getUTCMinutes(),
    hour: at.getUTCHours(),
    date: at.getUTCDate(),
    month: at.getUTCMonth() + 1,
    dow: at.getUTCDay(),
  };
  const runs: NewRun[] = [];
  for (const fn of functions) {
    for (const { expression, item } of fn.crons) {
      if (!item.match(digest)) continue;
      const scheduledAt = at.toISOString();
      const data = { cron: expression, scheduledAt };
      const event = { name: 'inngest/scheduled.timer', id: scheduledAt, ts: at.getTime(), data };
      runs.push(createRun(fn, JSON.stringify(event), data, `cron:${fn.id}:${expression}:${scheduledAt}`));
    }
  }
  return runs;
}
