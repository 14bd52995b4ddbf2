'use client';
import { useQueries, useQueryClient } from '@tanstack/react-query';
import type { ReviewCase } from '../../../../contract/review';
import type { Session } from '../../../../contract/sessions';
import { useTRPC } from '../../queries';
import { CASES_PER_CALL, listTogether } from './case-calls';

/** So many cases are read before the reviewer comes to them. */
const AHEAD = 25;

/** What is known of a case: `isGone` if the session does not exist any more. */
export interface LoadedCase {
  found: ReviewCase | undefined;
  isGone: boolean;
  readAtMs: number;
  error: unknown;
  refetch(): unknown;
}

/**
 * Reads the cases around the current place, ahead of the reviewer, and those of the rows that the list shows. So nobody waits where
 * one call's cases end.
 */
export function useCases(sessions: readonly { id: string }[], at: number, shown: readonly [from: number, to: number]) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const numberOf = (place: number) => Math.floor(Math.max(0, Math.min(place, sessions.length - 1)) / CASES_PER_CALL);
  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const numbers = [
    ...new Set([
      ...range(numberOf(at - 1), numberOf(at + AHEAD)),
      ...range(numberOf(shown[0]), numberOf(Math.max(...shown))),
    ]),
  ];
  const optionsOf = (place: number) =>
    trpc.review.listCases.queryOptions(
      { sessionIds: listTogether(sessions, place) },
      { staleTime: Number.POSITIVE_INFINITY },
    );
  const calls = useQueries({
    queries: sessions.length === 0 ? [] : numbers.map((number) => optionsOf(number * CASES_PER_CALL)),
  });

  const findCase = (place: number): LoadedCase => {
    const call = calls[numbers.indexOf(numberOf(place))];
    const found = call?.data?.find(({ session }) => session.id === sessions[place]?.id);
    return {
      found,
      isGone: call?.data !== undefined && !found,
      readAtMs: call?.dataUpdatedAt ?? 0,
      error: call?.error,
      refetch: () => call?.refetch(),
    };
  };
  /** Reads the session at a place as it is known now, which may be ahead of what is rendered. */
  const readSession = (place: number): Session | undefined => {
    const sessionId = sessions[place]?.id;
    if (sessionId === undefined) return undefined;
    const changed = queryClient.getQueryData(trpc.sessions.get.queryKey({ sessionId }));
    const cases = queryClient.getQueryData(optionsOf(place).queryKey);
    return changed ?? cases?.find(({ session }) => session.id === sessionId)?.session;
  };
  return { findCase, readSession };
}
