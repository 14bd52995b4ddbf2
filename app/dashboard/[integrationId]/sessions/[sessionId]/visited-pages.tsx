'use client';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { Session } from '../../../../../contract/sessions';
import { Button } from '../../../components/button';
import { showCount } from '../../../components/count';
import { LongValue } from '../../../components/long-value';
import { Section } from '../../../components/page-header';
import { ErrorState, Skeleton } from '../../../components/states';
import { useTRPC } from '../../../queries';
import { describeError } from '../../../query-client';
import { showPath } from '../session-facts';
import { Offset } from '../timeline';
import { showMilliseconds } from './event-words';
import { VISITED_PAGES } from './visited-pages-query';

/** The pages that the session visited, and for how long each was in front. */
export function Pages({ session, refetchInterval }: { session: Session; refetchInterval: number | false }) {
  const trpc = useTRPC();
  const list = useInfiniteQuery(
    trpc.sessions.listPages.infiniteQueryOptions({ sessionId: session.id }, { ...VISITED_PAGES, refetchInterval }),
  );
  const first = list.data?.pages[0];
  if (list.error && !first)
    return (
      <Section title="Pages">
        <ErrorState message={describeError(list.error)} onRetry={() => void list.refetch()} />
      </Section>
    );
  if (!first) return <Skeleton className="h-40" />;
  const pages = list.data?.pages.flatMap((one) => one.pages) ?? [];
  const startMs = Date.parse(session.createdAt);
  return (
    <Section
      title="Pages"
      actions={
        <span className="text-faint text-xs">
          {first.hasMore && 'more than '}
          {showCount(first.total)} {first.total === 1 ? 'page' : 'pages'}
        </span>
      }
    >
      <p className="mb-2 text-faint text-xs">
        Time in front: until the next page, less the time in which the page was hidden. The last page ends with the last
        event.
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
      <section className="relative max-h-96 overflow-y-auto" tabIndex={0} aria-label="Pages in their order">
        <ol className="space-y-2">
          {pages.map(({ url, at, spentMs }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a page may be visited twice at once
            <li key={index} className="flex items-baseline gap-3">
              <span className="w-10 shrink-0 text-right text-faint">
                <Offset at={at} startMs={startMs} />
              </span>
              <span className="min-w-0 flex-1">
                <LongValue text={showPath(url)} name={`address of page ${index + 1}`} />
              </span>
              <span className="shrink-0 whitespace-nowrap text-right text-muted" title="Time in front">
                {spentMs === null ? '–' : showMilliseconds(spentMs)}
              </span>
            </li>
          ))}
        </ol>
        {list.hasNextPage && (
          <Button
            kind="quiet"
            isSmall
            className="mt-2"
            disabled={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            {list.isFetchingNextPage ? 'Loading …' : `Show more of ${showCount(first.total)}`}
          </Button>
        )}
      </section>
    </Section>
  );
}
