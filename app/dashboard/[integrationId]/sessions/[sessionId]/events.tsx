'use client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { SessionEvent } from '../../../../../contract/session-events';
import type { Session } from '../../../../../contract/sessions';
import { Badge } from '../../../components/badge';
import { Button } from '../../../components/button';
import { joinClasses } from '../../../components/classes';
import { Count, showCount } from '../../../components/count';
import { Facts } from '../../../components/details-panel';
import { ChevronRight } from '../../../components/icons';
import { LongValue } from '../../../components/long-value';
import { EmptyState, ErrorState, Skeleton } from '../../../components/states';
import { showDuration, Time } from '../../../components/time';
import { PAGES } from '../../../list-pages';
import { useTRPC } from '../../../queries';
import { describeError } from '../../../query-client';
import { showPath } from '../session-facts';
import { chooseTypeColor, Offset } from '../timeline';
import { listEventMetadata, showMilliseconds, summariseEvent } from './event-words';

const CELL = 'h-9 border-line/60 border-b px-2 @lg:px-3';
/** Columns that need more room than a phone has. */
const FROM_MEDIUM = '@max-xl:hidden';
const FROM_WIDE = '@max-3xl:hidden';
const COLUMNS = 6;

/** What happened in the session, in its order. Each row opens and shows everything that is known of the event. Typed content is never recorded. */
export function Events({ session, refetchInterval }: { session: Session; refetchInterval: number | false }) {
  const trpc = useTRPC();
  const list = useInfiniteQuery(
    trpc.sessions.listEvents.infiniteQueryOptions({ sessionId: session.id }, { ...PAGES, refetchInterval }),
  );
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string) => {
    const next = new Set(opened);
    if (!next.delete(id)) next.add(id);
    setOpened(next);
  };
  const rows = list.data?.pages.flatMap(({ data }) => data);
  const startMs = Date.parse(session.createdAt);
  const error = list.error && describeError(list.error);
  if (error && !rows?.length) return <ErrorState message={error} onRetry={() => void list.refetch()} />;
  if (!rows) return <Skeleton className="h-96" />;
  return (
    <section>
      <h2 className="mb-2 font-semibold">Events</h2>
      <div className="rounded border border-line bg-surface">
        {rows.length === 0 ? (
          <EmptyState title="No events">
            <p>The pixel has reported nothing but the start of this session.</p>
          </EmptyState>
        ) : (
          <div className="@container relative overflow-x-auto rounded lg:overflow-x-clip">
            <table className="w-full border-separate border-spacing-0">
              <caption className="sr-only">Events</caption>
              <thead>
                <tr>
                  <Heading />
                  <Heading name="At" />
                  <Heading name="What" className="w-full" />
                  <Heading name="Count" className="text-right" />
                  <Heading name="Took" className={joinClasses('text-right', FROM_MEDIUM)} />
                  <Heading name="Page" className={FROM_WIDE} />
                </tr>
              </thead>
              <tbody>
                {rows.map((event) => (
                  <EventRow
                    key={event.id}
                    {...{ event, startMs, isOpen: opened.has(event.id), onToggle: () => toggle(event.id) }}
                  />
                ))}
              </tbody>
            </table>
          </div>
        )}
        <div className="flex min-h-10 flex-wrap items-center justify-between gap-3 px-3 py-1 text-muted text-xs">
          <span role="status">
            {showCount(rows.length)} {rows.length === 1 ? 'event' : 'events'}
            {list.hasNextPage && ' so far'}
          </span>
          {error && <ErrorState message={error} onRetry={() => void list.refetch()} />}
          {list.hasNextPage && (
            <Button kind="quiet" disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
              {list.isFetchingNextPage ? 'Loading …' : 'Load more'}
            </Button>
          )}
        </div>
      </div>
    </section>
  );
}

function Heading({ name, className }: { name?: string; className?: string }) {
  return (
    <th
      scope="col"
      className={joinClasses(
        'sticky top-0 z-10 h-8 whitespace-nowrap border-b bg-surface px-2 text-left @lg:px-3 font-medium text-muted text-xs',
        className,
      )}
    >
      {name ?? <span className="sr-only">Open</span>}
    </th>
  );
}

interface EventRowProps {
  event: SessionEvent;
  startMs: number;
  isOpen: boolean;
  onToggle(): void;
}

function EventRow({ event, startMs, isOpen, onToggle }: EventRowProps) {
  const { sequence, type, timestamp, eventCount, durationMs, url, metadata } = event;
  const details = `event-${sequence}`;
  return (
    <>
      {/* A click anywhere in the row is a short cut: its button is what the keyboard and screen readers use. */}
      <tr className="hover:bg-sunken" onClick={onToggle}>
        <td className={joinClasses(CELL, 'w-px pr-0!')}>
          <button
            type="button"
            aria-expanded={isOpen}
            aria-controls={isOpen ? details : undefined}
            aria-label={`Details of event ${sequence}`}
            className="inline-flex size-6 items-center justify-center rounded text-faint hover:text-ink"
            onClick={(click) => {
              click.stopPropagation();
              onToggle();
            }}
          >
            <ChevronRight size={14} aria-hidden className={isOpen ? 'rotate-90' : undefined} />
          </button>
        </td>
        <td className={joinClasses(CELL, 'w-px')}>
          <Offset at={timestamp} startMs={startMs} />
        </td>
        <td className={CELL}>
          <span className="flex flex-wrap items-center gap-x-2">
            <span className="inline-flex items-center gap-1.5">
              <span className="size-2 rounded-[2px]" style={{ background: chooseTypeColor(type) }} aria-hidden />
              {type}
            </span>
            <span className="text-muted">{summariseEvent(event)}</span>
            {metadata?.trusted === false && <Badge tone="bot">by a script</Badge>}
          </span>
        </td>
        <td className={joinClasses(CELL, 'text-right')}>
          <Count value={eventCount} />
        </td>
        <td className={joinClasses(CELL, 'whitespace-nowrap text-right', FROM_MEDIUM)}>
          {durationMs === null ? '' : showDuration(durationMs)}
        </td>
        <td className={joinClasses(CELL, FROM_WIDE)}>
          <span className="block max-w-52 truncate text-muted" title={url ?? undefined}>
            {url && showPath(url)}
          </span>
        </td>
      </tr>
      {isOpen && (
        <tr id={details}>
          <td colSpan={COLUMNS} className="border-line/60 border-b bg-sunken p-3 @lg:pl-12">
            <EventDetails event={event} />
          </td>
        </tr>
      )}
    </>
  );
}

function EventDetails({ event }: { event: SessionEvent }) {
  const { sequence, timestamp, eventCount, durationMs, url, metadata } = event;
  const { facts, left } = listEventMetadata(metadata ?? {});
  return (
    <div className="space-y-2">
      <Facts
        facts={[
          ['Number', String(sequence)],
          ['Time', <Time key="time" at={timestamp} absolute />],
          ['Stands for', `${showCount(eventCount)} ${eventCount === 1 ? 'event' : 'events'}`],
          ['Took', durationMs === null ? null : showMilliseconds(durationMs)],
          ['Page', url && <LongValue key="page" text={url} name="address" />],
        ]}
      />
      <h3 className="font-medium text-xs">Metadata</h3>
      {facts.length === 0 ? (
        <p className="text-faint">None.</p>
      ) : (
        // Keys may be of any length too, so names and values stand below each other where there is little room.
        <dl className="grid grid-cols-1 gap-x-4 gap-y-1.5 @lg:grid-cols-[minmax(0,12rem)_minmax(0,1fr)]">
          {facts.map(({ key, name, text, isNested }) => (
            <div key={key} className="contents">
              <dt className="wrap-anywhere line-clamp-2 text-muted" title={key}>
                {name}
              </dt>
              <dd className="min-w-0">
                <LongValue text={text} name={`value of ${name.slice(0, 40)}`} isCode={isNested} />
              </dd>
            </div>
          ))}
        </dl>
      )}
      {left > 0 && <p className="text-faint text-xs">{showCount(left)} more keys are not shown.</p>}
    </div>
  );
}
