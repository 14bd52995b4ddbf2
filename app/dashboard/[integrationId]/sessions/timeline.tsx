'use client';
import type { SessionEventType, StaffSessionDetails } from '../../../../contract/session-events';
import { Bars } from '../../charts/bars';
import { ChartFrame, Legend } from '../../charts/chart-frame';
import { showCount } from '../../components/count';
import { countOf, type Noun } from '../../components/list-total';
import { showDuration, useTimeZone } from '../../components/time';
import { showInstant } from '../../time-zone';

/** The colour of an event type, the same everywhere. */
export const chooseTypeColor = (type: SessionEventType) => `var(--color-type-${type})`;

const EVENTS: Noun = ['event', 'events'];
const CHANGES: Noun = ['change', 'changes'];

type Stretch = StaffSessionDetails['timeline'][number];
const listCounts = ({ countsByType }: Stretch) => Object.entries(countsByType) as [SessionEventType, number][];

/** Shows the time since the start of the session as `m:ss`. */
export function showOffset(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

const SHORT_MS = 4_000;

/** Places the times below an axis that shows `spanMs`. A short one has parts of seconds: whole ones would be the same. */
export function placeTimes(startMs: number, spanMs: number): { at: number; text: string }[] {
  const times = [0, 25, 50, 75, 100].map((at) => {
    const ms = startMs + (spanMs * at) / 100;
    return { at, text: spanMs < SHORT_MS ? `${Number((ms / 1000).toFixed(2))} s` : showOffset(ms) };
  });
  // Those of an empty session are the same still.
  return times.filter(({ text }, at) => text !== times[at - 1]?.text);
}

/** An instant (ISO 8601) as the time since the start of the session, with the exact time on hover. */
export function Offset({ at, startMs }: { at: string; startMs: number }) {
  const { timeZone } = useTimeZone();
  return (
    <time dateTime={at} title={showInstant(at, timeZone)}>
      {showOffset(Date.parse(at) - startMs)}
    </time>
  );
}

interface TimelineProps {
  details: StaffSessionDetails;
  height?: number;
  /** When rules found something, in milliseconds since the start. */
  momentsMs?: readonly number[];
  /** The moment that the reader looks at. */
  chosenMs?: number | null;
}

/** The events of a session over time, stacked by type, with page changes and the moments of findings marked. */
export function Timeline({ details, height = 140, momentsMs = [], chosenMs = null }: TimelineProps) {
  const { timeline, pageHistory, startTime, durationSeconds, eventCounts } = details;
  const startMs = Date.parse(startTime);
  const [first, second] = timeline;
  const stretchMs =
    first && second ? Date.parse(second.timestamp) - Date.parse(first.timestamp) : durationSeconds * 1000;
  const spanMs = Math.max(1, stretchMs * timeline.length);
  const place = (sinceStartMs: number) => Math.min(100, Math.max(0, (sinceStartMs / spanMs) * 100));
  // A fixed order, so that each type keeps its place in every bar.
  const types = [...new Set(timeline.flatMap((stretch) => listCounts(stretch).map(([type]) => type)))].sort();
  const changes = pageHistory.filter(({ type }) => type === 'navigation');
  const eventsInTime = `${countOf(eventCounts.total, EVENTS)} in ${showDuration(durationSeconds * 1000)}`;
  const offset = (timestamp: string) => showOffset(Date.parse(timestamp) - startMs);
  return (
    <ChartFrame
      title="Timeline"
      summary={`${eventsInTime}: ${showCount(eventCounts.mouse)} mouse, ${showCount(eventCounts.scroll)} scroll, ${showCount(eventCounts.keyboard)} keyboard, ${showCount(eventCounts.touch)} touch, ${showCount(eventCounts.form)} form; ${countOf(changes.length, CHANGES)} of the page.${momentsMs.length > 0 ? ` Findings at ${[...new Set(momentsMs.map(showOffset))].join(', ')}.` : ''}`}
      table={{
        columns: ['Since the start', 'Events', ...types],
        rows: timeline.map((stretch) => [
          offset(stretch.timestamp),
          showCount(stretch.eventCount),
          ...types.map((type) => showCount(stretch.countsByType[type] ?? 0)),
        ]),
      }}
    >
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <Legend
          items={[
            ...types.map((type) => ({ name: type, color: chooseTypeColor(type) })),
            ...(momentsMs.length > 0 ? [{ name: 'finding', color: 'var(--color-bot)' }] : []),
          ]}
        />
        <span className="text-muted text-xs">{eventsInTime}</span>
      </div>
      <Bars
        height={height}
        bars={timeline.map((stretch) => ({
          name: offset(stretch.timestamp),
          parts: types
            .map((type) => ({ name: type, color: chooseTypeColor(type), value: stretch.countsByType[type] ?? 0 }))
            .filter(({ value }) => value > 0),
        }))}
        labels={placeTimes(0, spanMs)}
        overlay={
          <>
            {changes.map(({ url, timestamp }) => (
              <div
                key={`${timestamp} ${url}`}
                title={`${offset(timestamp)} ${url}`}
                className="absolute inset-y-0 w-px bg-ink/70 before:absolute before:top-0 before:-left-[3px] before:size-[7px] before:rotate-45 before:bg-ink"
                style={{ left: `${place(Date.parse(timestamp) - startMs)}%` }}
              />
            ))}
            {momentsMs.map((ms) => (
              <div
                key={ms}
                title={`${showOffset(ms)} finding`}
                className="absolute bottom-0 h-3 w-[3px] -translate-x-1/2 rounded-t bg-bot"
                style={{ left: `${place(ms)}%` }}
              />
            ))}
            {chosenMs !== null && (
              <div
                data-chosen
                className="absolute inset-y-0 w-[3px] -translate-x-1/2 bg-bot"
                style={{ left: `${place(chosenMs)}%` }}
              />
            )}
          </>
        }
      />
    </ChartFrame>
  );
}
