'use client';
import { useQueryClient } from '@tanstack/react-query';
import { useParams } from 'next/navigation';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { ReviewQueue, ReviewQueueKind, ReviewWindow } from '../../../../contract/review';
import { useTimeZone } from '../../components/time';
import { useUrlState } from '../../components/url-state';
import { useTRPC, useTRPCClient } from '../../queries';
import { describeError, readNow } from '../../query-client';
import { noteVerdicts, type ReviewProgress, startReview } from './progress';
import { DEFAULT_QUEUE, DEFAULT_WINDOW, readQueueChoice } from './queue-choice';
import { readProgress, storeProgress } from './stored-progress';

/** How often the page asks what others have decided. */
const TOLD_EVERY_MS = 2_000;
/** Transactions may commit in another order than that of their times. */
const OVERLAP_MS = 30_000;

/**
 * The queue and where its reviewer stands. `first` is the queue that came with the page. The address says when the queue was opened; the
 * tab keeps it with the progress, so that a reload goes on in the same one. `act` changes the progress at once, so that keys may be
 * faster than the page renders.
 */
export function useReview(first: ReviewQueue | null) {
  const { integrationId } = useParams<{ integrationId: string }>();
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queryClient = useQueryClient();
  const { timeZone } = useTimeZone();
  const { params, readQuery, change } = useUrlState();
  const [progress, setProgress] = useState<ReviewProgress | null>(() => first && startReview(first));
  const [error, setError] = useState<string | null>(null);
  const latest = useRef(progress);

  const show = useCallback(
    (next: ReviewProgress) => {
      if (next === latest.current) return;
      latest.current = next;
      setProgress(next);
      storeProgress(integrationId, next);
    },
    [integrationId],
  );
  const act = useCallback(
    (step: (progress: ReviewProgress) => ReviewProgress) => {
      if (latest.current) show(step(latest.current));
    },
    [show],
  );

  const enter = useCallback(
    (next: ReviewProgress, replace: boolean) => {
      show(next);
      const queue = next.queue === DEFAULT_QUEUE ? null : next.queue;
      const window = next.window === DEFAULT_WINDOW ? null : next.window;
      change({ queue, window, opened: next.openedAt }, { replace });
    },
    [show, change],
  );
  /** How many queues were asked for. An answer to an earlier choice may come after the one to the last. */
  const asked = useRef(0);
  /** Reads a new queue. */
  const open = useCallback(
    async ({ queue, window }: { queue: ReviewQueueKind; window: ReviewWindow }, replace = false) => {
      const turn = ++asked.current;
      setError(null);
      try {
        // Nothing else of a queue that is given: its sessions would make an address that no server takes.
        const input = { queue, window, timeZone };
        const found = await readNow(queryClient, trpc.review.listQueue.queryOptions(input));
        if (turn === asked.current) enter(startReview(found), replace);
      } catch (cause) {
        if (turn === asked.current) setError(describeError(cause));
      }
    },
    [queryClient, trpc, timeZone, enter],
  );

  const opened = params.get('opened');
  const isRestored = useRef(false);
  useEffect(() => {
    const isShown = opened !== null && opened === latest.current?.openedAt;
    if (isShown && isRestored.current) return;
    // The browser's back button brings the page as it came from the server, and the tab knows how far its reviewer was.
    isRestored.current = true;
    const kept = readProgress(integrationId, opened ?? first?.openedAt ?? '');
    const next = kept ?? (first && (isShown || !opened) ? startReview(first) : null);
    // Next follows the address from its first effect on, which comes after this one. An address that it has not seen would stay
    // without its page when the reader goes back to it.
    if (next) {
      // An answer to an earlier choice that comes later must not replace it.
      asked.current++;
      setError(null);
      queueMicrotask(() => enter(next, true));
    } else void open(readQueueChoice(readQuery()), true);
  }, [opened, first, integrationId, enter, open, readQuery]);

  const openedAt = progress?.openedAt;
  useEffect(() => {
    if (openedAt === undefined) return;
    let sinceMs = Date.parse(openedAt);
    const ask = async () => {
      // News that arrives while a verdict or an undo is in flight may be older than it.
      if (document.hidden || queryClient.isMutating() > 0) return;
      const asked = latest.current;
      const since = new Date(sinceMs).toISOString();
      // Without an answer the next one tells more.
      const told = await client.review.listVerdicts.query({ since }).catch(() => []);
      if (queryClient.isMutating() > 0) return;
      sinceMs = Math.max(sinceMs, ...told.map(({ decidedAt }) => Date.parse(decidedAt) - OVERLAP_MS));
      const before = latest.current;
      const isUnchanged = (id: string) => asked?.outcomes[id] === before?.outcomes[id];
      act((current) =>
        noteVerdicts(
          current,
          told.filter(({ sessionId }) => isUnchanged(sessionId)),
        ),
      );
      for (const { sessionId } of told)
        if (before?.outcomes[sessionId] !== latest.current?.outcomes[sessionId])
          void queryClient.invalidateQueries({ queryKey: trpc.sessions.get.queryKey({ sessionId }) });
    };
    const timer = setInterval(ask, TOLD_EVERY_MS);
    return () => clearInterval(timer);
  }, [openedAt, trpc, client, queryClient, act]);

  /** The queue that is shown, or that could not be read yet. */
  const choice = progress ?? readQueueChoice(params);
  return { progress, choice, readProgress: () => latest.current, act, open, error };
}
