import {
  type AlertRulePreview,
  MAX_PREVIEWED,
  PREVIEW_DAYS,
  type PreviewAlertRuleInput,
} from '../../contract/alert-rules';
import type { Database } from '../../db/client';
import { readSeries } from './alert-counts';
import { type Ends, findFirings } from './alert-decision';
import { writeMessage } from './alert-message';

const MINUTE_MS = 60_000;
export const toInstant = (minute: number) => new Date(minute * MINUTE_MS).toISOString();
export const toMinute = (instant: string) => Math.floor(Date.parse(instant) / MINUTE_MS);

/**
 * Says when a rule would have fired in the last 30 days, by the counts, cut points and labels of now. `at` is the time of the
 * preview, by default that of the database.
 */
export async function previewAlertRule(
  db: Database,
  integrationId: string,
  rule: PreviewAlertRuleInput,
  at: string | null = null,
): Promise<AlertRulePreview> {
  const scopeValue = rule.scope.value ?? '';
  const [known] = await db.query<{ now: string; courseName: string | null }>(READ_CONTEXT, [
    ...[integrationId, at, rule.scope.kind === 'course' ? scopeValue : null],
  ]);
  const last = toMinute(known!.now);
  const ends: Ends = { first: last - PREVIEW_DAYS * 24 * 60 + 1, last };
  const counted = { ...rule, integrationId, scope: rule.scope.kind, scopeValue };
  const [series] = await readSeries(db, [{ counted, ends }]);
  const firings = findFirings(rule, series!, ends);
  const described = { ...counted, courseName: known!.courseName };
  return {
    from: toInstant(ends.first),
    to: toInstant(last),
    count: firings.length,
    firings: firings
      .slice(-MAX_PREVIEWED)
      .reverse()
      .map(({ end, value }) => ({
        windowStart: toInstant(end - rule.windowMinutes),
        windowEnd: toInstant(end),
        value,
        message: writeMessage(described, value),
      })),
  };
}

const READ_CONTEXT = `
  select coalesce($2::timestamptz, now()) as now, (select name from courses where integration_id = $1 and id = $3) as "courseName"`;
