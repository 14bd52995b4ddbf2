import type { AlertMetric, AlertScope } from '../../contract/alert-rules';
import { SEVERITIES, type Severity } from '../../contract/events';
import type { Database } from '../../db/client';
import { MINUTE_SCOPES } from '../domain/minute-counts';
import { countAtLeast } from '../domain/rollups';
import type { Ends, MinuteSeries } from './alert-decision';

// Reads what alert rules count, by minute (docs/counts.md, "Counts by minute").

/** What is counted for a rule. */
export interface Counted {
  integrationId: string;
  metric: AlertMetric;
  scope: AlertScope;
  /** Empty for the scope `integration`. */
  scopeValue: string;
  anomalyType: string | null;
  minSeverity: Severity | null;
  windowMinutes: number;
}

/** Something that rules count, with the minutes to read: `[from, until)`. */
interface Span {
  key: number;
  integrationId: string;
  source: 'sessions' | 'Anomaly' | 'FailedDelivery';
  metric: AlertMetric;
  scope: AlertScope;
  value: string;
  type: string | null;
  level: number;
  from: number;
  until: number;
  /** From here on each minute is read by itself. Before, minutes are added up from one of the `breaks` to the next one. */
  fineFrom: number;
  breaks: number[];
}

const SOURCES: Record<AlertMetric, Span['source']> = {
  botSessions: 'sessions',
  botShare: 'sessions',
  averageScore: 'sessions',
  anomalies: 'Anomaly',
  failedDeliveries: 'FailedDelivery',
};

const nameCounted = ({ integrationId, metric, scope, scopeValue, anomalyType, minSeverity }: Counted) => ({
  ...{ integrationId, source: SOURCES[metric], metric, scope, value: scopeValue, type: anomalyType },
  level: minSeverity === null ? 1 : SEVERITIES.indexOf(minSeverity) + 1,
});

/** Adds the minutes that a rule needs. A rule with one or two windows needs only to know where they begin and end. */
function widen(span: Span, windowMinutes: number, { first, last }: Ends): void {
  span.from = Math.min(span.from, first - windowMinutes);
  span.until = Math.max(span.until, last);
  if (last - first > 1) span.fineFrom = Math.min(span.fineFrom, first - windowMinutes);
  else span.breaks.push(first - windowMinutes, last - windowMinutes, first, last);
}

/** Reads the minutes of all windows with one statement. Rules that count the same share a series. */
export async function readSeries(db: Database, windows: { counted: Counted; ends: Ends }[]): Promise<MinuteSeries[]> {
  if (windows.length === 0) return [];
  const spans = new Map<string, Span>();
  const keys = windows.map(({ counted, ends }) => {
    const named = nameCounted(counted);
    const name = JSON.stringify(named);
    const empty = { from: MAX_MINUTE, until: 0, fineFrom: MAX_MINUTE };
    const span = spans.get(name) ?? { key: spans.size, ...named, ...empty, breaks: [] };
    spans.set(name, span);
    widen(span, counted.windowMinutes, ends);
    return span.key;
  });
  for (const { breaks } of spans.values()) breaks.sort((a, b) => a - b);
  const rows = await db.query<MinuteSeries & { key: number }>(READ_SERIES, [JSON.stringify([...spans.values()])]);
  const found = new Map(rows.map(({ key, ...series }) => [key, series]));
  return keys.map((key) => found.get(key) ?? { minutes: [], counts: [], totals: [] });
}

/** The largest number of Postgres' type of a minute. */
const MAX_MINUTE = 2_147_483_647;
const minuteOf = (column: string) => `(extract(epoch from ${column}) / 60)::int`;
const instantOf = (column: string) => `to_timestamp(${column} * 60.0)`;
const isInSpan = (minute: string) => `${minute} >= ${instantOf('s."from"')} and ${minute} < ${instantOf('s.until')}`;
const LEVELS = `array[${SEVERITIES.map((severity) => `'${severity}'`).join(', ')}]`;

/** The look-ups are lateral, so that each is one range of an index whatever the statistics say. */
export const READ_SERIES = `
  with spans as materialized (
    select s.*, (select bot_at from integrations i where i.id = s."integrationId") as bot_at
      from json_to_recordset($1::text::json) as s(key int, "integrationId" text, source text, metric text, scope text, value text, type text, level int,
                                                 "from" int, until int, "fineFrom" int, breaks int[])),
  changes as (
    select d.* from (select distinct "integrationId" from spans where source = 'sessions') s
      cross join lateral (select * from session_deltas d where d.integration_id = s."integrationId" offset 0) d),
  cells as (
    select s.key, c.minute, c.bots, c.judged, c.scored, c.score_micros
      from spans s cross join lateral (
        select ${minuteOf('minute')} as minute, ${countAtLeast('sessions', 's.bot_at')} as bots, ${countAtLeast('sessions', '-1')} as judged,
               scored, score_micros
          from minute_counts
         where integration_id = s."integrationId" and scope = s.scope and value = s.value and ${isInSpan('minute')} offset 0) c
     where s.source = 'sessions'
     union all
    select s.key, ${minuteOf('d.minute')}, case when d.bin >= s.bot_at then d.sign else 0 end,
           case when d.bin >= -1 then d.sign else 0 end, case when d.score_micros is null then 0 else d.sign end,
           coalesce(d.sign * d.score_micros, 0)
      from changes d ${MINUTE_SCOPES}
      join spans s on s.source = 'sessions' and s."integrationId" = d.integration_id and s.scope = m.scope and s.value = m.value
     where ${isInSpan('d.minute')}
     union all
    select s.key, c.minute, c.incidents, 0, 0, 0
      from spans s cross join lateral (
        select ${minuteOf('minute')} as minute, incidents
          from incident_counts
         where integration_id = s."integrationId" and kind = s.source and scope = s.scope and value = s.value and ${isInSpan('minute')}
           and (s.type is null or type = s.type)
           and (s.level = 1 or array_position(${LEVELS}, severity) >= s.level) offset 0) c
     where s.source <> 'sessions'),
  parts as (
    select s.key,
           case when c.minute >= s."fineFrom" then c.minute else s.breaks[width_bucket(c.minute, s.breaks)] end as minute,
           case s.metric when 'averageScore' then score_micros else bots end as count,
           case s.metric when 'averageScore' then scored when 'botShare' then judged else 0 end as total
      from cells c join spans s using (key)),
  minutes as (
    select key, minute, sum(count) as count, sum(total) as total
      from parts group by key, minute having sum(count) <> 0 or sum(total) <> 0)
  select key, json_agg(minute order by minute) as minutes, json_agg(count order by minute) as counts,
         json_agg(total order by minute) as totals
    from minutes group by key`;
