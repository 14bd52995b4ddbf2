'use client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useParams, useRouter, useSearchParams } from 'next/navigation';
import { type ReactNode, useEffect, useState } from 'react';
import { ButtonLink } from '../../../components/button';
import { showCount } from '../../../components/count';
import { ChevronLeft, ChevronRight } from '../../../components/icons';
import { useShortcuts } from '../../../components/shortcuts';
import { useTimeZone } from '../../../components/time';
import { PAGES } from '../../../list-pages';
import { useTRPC } from '../../../queries';
import { findOutcome } from '../../review/progress';
import { readProgress } from '../../review/stored-progress';
import { readOrigin, withOrigin } from '../list-origin';
import { readSessionList } from '../session-filters';

/** A session is looked for among the first so many of its list. */
const MAX_SEARCHED = 1_000;
/** The next page of the list is read when so many sessions are left. */
const AHEAD = 5;

interface Place {
  ids: readonly string[];
  /** Null if the list goes on behind the last id. */
  total: number | null;
}

/** Goes to the session before or after in the list that the reader came from: by `[` and `]`, or its buttons. */
export function Neighbours({ sessionId }: { sessionId: string }) {
  const search = useSearchParams();
  const from = readOrigin(search);
  if (!from) return null;
  const props = { sessionId, origin: from.origin };
  return from.page === 'review' ? (
    <QueueNeighbours {...props} openedAt={from.openedAt} />
  ) : (
    <ListNeighbours {...props} search={from.search} />
  );
}

interface NeighboursProps {
  sessionId: string;
  origin: string;
}

function QueueNeighbours({ openedAt, ...rest }: NeighboursProps & { openedAt: string }) {
  const { integrationId } = useParams<{ integrationId: string }>();
  const [place, setPlace] = useState<Place | null>(null);
  useEffect(() => {
    const progress = readProgress(integrationId, openedAt);
    if (!progress) return;
    const { queue, sessions } = progress;
    const hasVerdict = (id: string) => !['skipped', 'skippedAgain', undefined].includes(findOutcome(progress, id));
    // The page of a session shows its score, so those of the sample are offered only after the verdict.
    const ids = sessions.map(({ id }) => id).filter((id) => queue !== 'sample' || hasVerdict(id));
    setPlace({ ids, total: ids.length });
  }, [integrationId, openedAt]);
  return <Steps {...rest} place={place} back="Back to the review" />;
}

/** The list stays as it was read, so that no session moves while its reader goes through it. */
function ListNeighbours({ sessionId, search, ...rest }: NeighboursProps & { search: URLSearchParams }) {
  const trpc = useTRPC();
  const calendar = useTimeZone();
  const list = useInfiniteQuery({
    ...trpc.sessions.listSorted.infiniteQueryOptions(readSessionList(search, calendar), PAGES),
    staleTime: 'static',
  });
  const ids = list.data?.pages.flatMap(({ data }) => data.map(({ id }) => id)) ?? [];
  const at = ids.indexOf(sessionId);
  const { hasNextPage, isFetching, isError, fetchNextPage } = list;
  const needsMore = at < 0 ? ids.length < MAX_SEARCHED : at >= ids.length - AHEAD;
  useEffect(() => {
    if (needsMore && hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [needsMore, hasNextPage, isFetching, isError, fetchNextPage]);
  const place = list.data ? { ids, total: hasNextPage ? null : ids.length } : null;
  return <Steps sessionId={sessionId} {...rest} place={place} back="Back to the list" />;
}

interface StepsProps extends NeighboursProps {
  place: Place | null;
  back: string;
}

function Steps({ sessionId, origin, place, back }: StepsProps) {
  const { integrationId } = useParams<{ integrationId: string }>();
  const base = `/dashboard/${integrationId}`;
  const router = useRouter();
  const at = place?.ids.indexOf(sessionId) ?? -1;
  const hrefAt = (index: number) => {
    const id = at < 0 ? undefined : place?.ids[index];
    return id === undefined ? null : withOrigin(`${base}/sessions/${encodeURIComponent(id)}`, origin);
  };
  const [previous, next] = [hrefAt(at - 1), hrefAt(at + 1)];
  useEffect(() => {
    if (next) router.prefetch(next);
  }, [router, next]);
  useShortcuts('List', [
    { keys: '[', name: 'Previous session of the list', run: () => previous && router.push(previous) },
    { keys: ']', name: 'Next session of the list', run: () => next && router.push(next) },
  ]);
  const position = at < 0 ? '' : showCount(at + 1) + (place?.total == null ? '' : ` of ${showCount(place.total)}`);
  return (
    <nav aria-label="Sessions of the list" className="flex items-center gap-2">
      <ButtonLink kind="quiet" href={`${base}/${origin}`} prefetch={false}>
        {back}
      </ButtonLink>
      <Step href={previous} name="Previous session ([)">
        <ChevronLeft size={16} aria-hidden />
      </Step>
      <span role="status" className="min-w-8 text-center text-muted">
        {position}
      </span>
      <Step href={next} name="Next session (])">
        <ChevronRight size={16} aria-hidden />
      </Step>
    </nav>
  );
}

/** A link that keeps its place where there is nothing to go to. */
function Step({ href, name, children }: { href: string | null; name: string; children: ReactNode }) {
  return (
    <ButtonLink
      href={href ?? '#'}
      prefetch={false}
      aria-label={name}
      title={name}
      aria-disabled={href === null || undefined}
      tabIndex={href === null ? -1 : undefined}
      className="px-2!"
    >
      {children}
    </ButtonLink>
  );
}
