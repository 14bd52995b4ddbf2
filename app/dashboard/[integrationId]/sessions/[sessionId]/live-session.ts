'use client';
import { useIsMutating, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Session } from '../../../../../contract/sessions';
import { useTRPC } from '../../../queries';

const REFRESH_MS = 1_500;

/** A session that waits longer for its score may never get one. */
const WAIT_MS = 600_000;
/** Since when a session has been as it is, for this page. The server's clock may be another. An answer that is equal is the same object. */
const unchangedSinceMs = new WeakMap<Session, number>();

/** Whether facts of the session may still arrive: it is open, or it waits for its score. */
function isOpen(session: Session | undefined): boolean {
  if (session?.status !== 'Closed') return session?.status === 'Active';
  const nowMs = performance.now();
  const sinceMs = unchangedSinceMs.get(session) ?? nowMs;
  unchangedSinceMs.set(session, sinceMs);
  return nowMs - sinceMs < WAIT_MS;
}

/**
 * Reads the session again and again while it is open. `refetchInterval` is for the queries of the page's other parts. When the
 * session has ended, everything is read once more, so that the page shows what followed. While a change is in flight, the
 * session is not read: an older answer would revert the label that is shown, and the next key would say that the reviewer
 * saw this.
 */
export function useLiveSession(sessionId: string) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const isChanging = useIsMutating() > 0;
  const query = useQuery(
    trpc.sessions.get.queryOptions(
      { sessionId },
      { enabled: !isChanging, refetchInterval: ({ state }) => (isOpen(state.data) ? REFRESH_MS : false) },
    ),
  );
  // The time of the answer has the page drawn again, also if the answer is equal.
  const isLive = query.dataUpdatedAt > 0 && isOpen(query.data);
  useEffect(() => {
    if (!isLive) return;
    return () => void queryClient.invalidateQueries();
  }, [isLive, queryClient]);
  return { query, isLive, refetchInterval: isLive ? REFRESH_MS : (false as const) };
}
