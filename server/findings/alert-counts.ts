import type { AlertMetric, AlertScope } from '../../contract/alert-rules';
import { SEVERITIES, type Severity } from '../../contract/events';
import type { Database } from '../../db/client';
import { atLeast, MINUTE_SCOPES } from '../domain/rollups';
import type { Ends, MinuteSeries } from './alert-decision';

// Reads what alert rules count, by minute (docs/counts.md, "Counts by minute").

/** What is counted for a rule. */
export interface Counted {
  metric: AlertMetric;
  scope: AlertScope;
  /** Empty for the scope `integration`. */
  scopeValue: string;
  anomalyType: string | null;
  minSeverity: Severity | null;
  windowMinutes: number;
}

/** A stretch of minutes to read. Minutes in `[joinedFrom, joinedUntil)` are in every window, so they are read as one. */
interface Span {
  source: 'sessions' | 'Anomaly' | 'FailedDelivery';
  metric: AlertMetric;
  scope: AlertScope;
  value: string;
  type: string | null;
  level: number;
  from: number;
  joinedFrom: number;
  joinedUntil: number;
  until: number;
}

const SOURCES: Record<AlertMetric, Span['source']> = {
  botSessions: 'sessions',
  botShare: 'sessions',
  averageScore: 'sessions',
  anomalies: 'Anomaly',
  failedDeliveries: 'FailedDelivery',
};

function toSpan({ metric, scope, scopeValue, anomalyType, minSeverity, windowMinutes }: Counted, ends: Ends): Span {
  const isJoined = ends.last - windowMinutes < ends.first;
  return {
    ...{ source: SOURCES[metric], metric, scope, value: scopeValue, type: anomalyType },
    level: minSeverity === null ? 1 : SEVERITIES.indexOf(minSeverity) + 1,
    from: ends.first - windowMinutes,
    joinedFrom: isJoined ? ends.last - windowMinutes : 0,
    joinedUntil: isJoined ? ends.first : 0,
    until: ends.last,
  };
}

/** Reads the minutes of all windows with one statement. Rules that count the same share what is read. */
export async function readSeries(
  db: Database,
  integrationId: string,
  windows: { counted: Counted; ends: Ends }[],
): Promise<MinuteSeries[]> {
  if (windows.length === 0) return [];
  const spans = new Map<string, number>();
  const keys = windows.map(({ counted, ends }) => {
    const text = JSON.stringify(toSpan(counted, ends));
    if (!spans.has(text)) spans.set(text, spans.size);
    return spans.get(text)!;
  });
  const list = Array.from(spans, ([text, key]) => ({ key, ...(JSON.parse(text) as Span) }));
  const rows = await db.query<MinuteSeries & { key: number }>(READ_SERIES, [integrationId, JSON.stringify(list)]);
  const found = new Map(rows.map(({ key, ...series }) => [key, series]));
  return keys.map((key) => found.get(key) ?? { minutes: [], counts: [], totals: [] });
}

const minuteOf = (column: string) => `(extract(epoch from ${column}) / 60)::int`;
const instantOf = (column: string) => `to_timestamp(${column} * 60.0)`;
const isInSpan = (minute: string) => `${minute} >= ${instantOf('s."from"')} and ${minute} < ${instantOf('s.until')}`;
const LEVELS = `array[${SEVERITIES.map((severity) => `'${severity}'`).join(', ')}]`;

/** The look-ups of a span are lateral, so that each is one range of an index whatever the statistics say. */
export const READ_SERIES = `
  with spans as materialized (
    select s.*, (select bot_at from integrations where id = $1) as bot_at
      from json_to_recordset($2::text::json) as s(key int, source text, metric text, scope text, value text, type text, level int,
                                                 "from" int, "joinedFrom" int, "joinedUntil" int, until int)),
  cells as (
    select s.key, c.minute, c.bots, c.judged, c.scored, c.score_micros
      from spans s cross join lateral (
        select ${minuteOf('minute')} as minute, ${atLeast('sessions', 's.bot_at')} as bots, ${atLeast('sessions', '-1')} as judged,
               scored, score_micros
          from minute_counts
         where integration_id = $1 and scope = s.scope and value = s.value and ${isInSpan('minute')} offset 0) c
     where s.source = 'sessions'
     union all
    select s.key, ${minuteOf('d.minute')}, case when d.bin >= s.bot_at then d.sign else 0 end,
           case when d.bin >= -1 then d.sign else 0 end, case when d.score_micros is null then 0 else d.sign end,
           coalesce(d.sign * d.score_micros, 0)
      from session_deltas d ${MINUTE_SCOPES} join spans s on s.source = 'sessions' and s.scope = m.scope and s.value = m.value
     where d.integration_id = $1 and ${isInSpan('d.minute')}
     union all
    select s.key, c.minute, c.incidents, 0, 0, 0
      from spans s cross join lateral (
        select ${minuteOf('minute')} as minute, incidents
          from incident_counts
         where integration_id = $1 and kind = s.source and scope = s.scope and value = s.value and ${isInSpan('minute')}
           and (s.type is null or type = s.type)
           and (s.level = 1 or array_position(${LEVELS}, severity) >= s.level) offset 0) c
     where s.source <> 'sessions'),
  parts as (
    select s.key,
           case when c.minute >= s."joinedFrom" and c.minute < s."joinedUntil" then s."joinedUntil" - 1 else c.minute end as minute,
           case s.metric when 'averageScore' then score_micros else bots end as count,
           case s.metric when 'averageScore' then scored when 'botShare' then judged else 0 end as total
      from cells c join spans s using (key)),
  minutes as (
    select key, minute, sum(count) as count, sum(total) as total
      from parts group by key, minute having sum(count) <> 0 or sum(total) <> 0)
  select key, json_agg(minute order by minute) as minutes, json_agg(count order by minute) as counts,
         json_agg(total order by minute) as totals
    from minutes group by key`;
