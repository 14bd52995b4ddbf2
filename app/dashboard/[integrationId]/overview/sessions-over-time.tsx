'use client';
import Link from 'next/link';
import { useParams } from 'next/navigation';
import { useState } from 'react';
import type { Analytics } from '../../../../contract/analytics';
import { ChartFrame, Legend } from '../../charts/chart-frame';
import { type Brush, StackedArea } from '../../charts/stacked-area';
import { Button } from '../../components/button';
import { joinClasses } from '../../components/classes';
import { showCount } from '../../components/count';
import { Select } from '../../components/field';
import { countOf, type Noun } from '../../components/list-total';
import { useTimeZone } from '../../components/time';
import { useUrlState } from '../../components/url-state';
import { showMinute, UTC } from '../../time-zone';
import { BUCKET_CHOICES, PERIOD_CHOICES } from './analytics-window';

const BOTS = { name: 'Bots', color: 'var(--color-bot-fill)' };
const SESSIONS: Noun = ['session', 'sessions'];
const DEVICES: Noun = ['device', 'devices'];
const USERS: Noun = ['user', 'users'];
const OTHERS = { name: 'Other sessions', color: 'var(--color-neutral-fill)' };

/** Days and weeks are counted in UTC. Hours begin at the same moment in most zones. */
const nameBucket = (timestamp: string, groupBy: Analytics['groupBy'], timeZone: string) =>
  groupBy === 'hour' ? showMinute(timestamp, timeZone) : showMinute(timestamp, UTC).split(',')[0]!;

/** Finds the places of two buckets. Null if the series no longer has one of them. */
function findBuckets(series: Analytics['timeSeries'], ends: [first: string, last: string]): Brush {
  const [first, last] = ends.map((end) => series.findIndex(({ timestamp }) => timestamp === end)) as [number, number];
  return first < 0 || last < 0 ? null : [first, last];
}

/** Sessions and bots over the window. Brushing a range sums it up and links to its sessions. */
export function SessionsOverTime({ analytics, isStale }: { analytics: Analytics; isStale: boolean }) {
  const { change } = useUrlState();
  const { integrationId } = useParams<{ integrationId: string }>();
  const { timeZone } = useTimeZone();
  const { period, groupBy, timeSeries, summary } = analytics;
  /** The first and last selected bucket by when they begin: time and another period change their places. */
  const [selected, select] = useState<{ groupBy: Analytics['groupBy']; ends: [first: string, last: string] } | null>(
    null,
  );
  const brush = selected?.groupBy === groupBy ? findBuckets(timeSeries, selected.ends) : null;
  const setBrush = (next: Brush) =>
    select(next && { groupBy, ends: [timeSeries[next[0]]!.timestamp, timeSeries[next[1]]!.timestamp] });
  const buckets = timeSeries.map(({ timestamp }) => nameBucket(timestamp, groupBy, timeZone));
  const chosen = brush && timeSeries.slice(brush[0], brush[1] + 1);
  const counted = chosen ?? timeSeries;
  const sessions = counted.reduce((sum, { sessionCount }) => sum + sessionCount, 0);
  const bots = counted.reduce((sum, { botCount }) => sum + botCount, 0);
  const summaryText = `${countOf(sessions, SESSIONS)}, ${showCount(bots)} of them bots, ${
    // The window begins with a whole bucket, so it has up to one more than the period: a counter of 24 hours says less.
    brush ? `from ${buckets[brush[0]]} to ${buckets[brush[1]]}` : `since ${buckets[0]}`
  }`;
  // A device or a user is there in several buckets, so nobody has counted those of a selected range.
  const distinct = `bots on ${countOf(summary.uniqueBots, DEVICES)}, ${countOf(summary.uniqueUsers, USERS)}`;
  const start = chosen?.[0]?.timestamp;
  const end = brush && (timeSeries[brush[1] + 1]?.timestamp ?? analytics.endDate);
  const choose = (patch: Record<string, string | null>) => {
    setBrush(null);
    change(patch);
  };
  return (
    <ChartFrame
      title="Sessions over time"
      summary={brush ? `${summaryText}.` : `${summaryText}; ${distinct}.`}
      table={{
        columns: [`Start (${groupBy === 'hour' ? timeZone : 'UTC'})`, 'Sessions', 'Bots', 'Matched', 'Events'],
        rows: timeSeries.map((bucket, at) => [
          buckets[at],
          ...[bucket.sessionCount, bucket.botCount, bucket.userMatchedCount, bucket.eventCount].map(showCount),
        ]),
      }}
      actions={
        <>
          <fieldset className="flex rounded border border-line-strong p-px">
            <legend className="sr-only">Period</legend>
            {PERIOD_CHOICES.map((choice) => (
              <button
                key={choice.period}
                type="button"
                aria-pressed={choice.period === period}
                onClick={() =>
                  choose({
                    period: choice.period,
                    // A day grouped by week has one point; 90 days grouped by hour have too many.
                    groupBy:
                      choice.period === '24h' ? 'hour' : groupBy === 'hour' && choice.period !== '7d' ? 'day' : groupBy,
                  })
                }
                className={joinClasses(
                  'h-7 rounded px-2 text-xs',
                  choice.period === period ? 'bg-sunken font-medium text-ink' : 'text-muted hover:text-ink',
                )}
              >
                {choice.period}
                <span className="sr-only"> ({choice.name})</span>
              </button>
            ))}
          </fieldset>
          <Select
            aria-label="Size of a bucket"
            className="w-auto"
            value={groupBy}
            onChange={(event) => choose({ groupBy: event.target.value })}
          >
            {BUCKET_CHOICES.filter((bucket) => period !== '24h' || bucket.groupBy !== 'week').map((bucket) => (
              <option key={bucket.groupBy} value={bucket.groupBy}>
                {bucket.groupBy === 'hour' || timeZone === UTC ? bucket.name : `${bucket.name} (UTC)`}
              </option>
            ))}
          </Select>
        </>
      }
    >
      <div className={joinClasses('transition-opacity', isStale && 'opacity-60')}>
        <div className="mb-3 flex min-h-8 flex-wrap items-center justify-between gap-2">
          <Legend items={[BOTS, OTHERS]} />
          <div className="flex items-center gap-2" aria-live="polite">
            <span className="text-muted">{summaryText}</span>
            {start && end && (
              <>
                <Link
                  className="text-accent underline underline-offset-2"
                  href={`/dashboard/${integrationId}/sessions?startDate=${encodeURIComponent(start)}&endDate=${encodeURIComponent(end)}`}
                >
                  See them
                </Link>
                <Button kind="quiet" onClick={() => setBrush(null)}>
                  Clear
                </Button>
              </>
            )}
          </div>
        </div>
        <StackedArea
          buckets={buckets}
          layers={[
            { ...BOTS, values: timeSeries.map(({ botCount }) => botCount) },
            { ...OTHERS, values: timeSeries.map(({ sessionCount, botCount }) => sessionCount - botCount) },
          ]}
          brush={brush}
          onBrush={setBrush}
        />
      </div>
    </ChartFrame>
  );
}
