'use client';
import { type InfiniteData, useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import type { Page } from '../../../../contract/pagination';
import type { Session, Verdict } from '../../../../contract/sessions';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { describeError } from '../../query-client';
import { useStaff } from '../../staff';

type Sessions = InfiniteData<Page<Session>>;

/**
 * Labels sessions. The change shows at once in every list and on the session's page, is reverted if the server refuses
 * it, and can be undone with `undo` or from the notification. Afterwards the session is fetched again, because the API
 * decides its class.
 */
export function useLabeling({ onUndo }: { onUndo?: (session: Session) => void } = {}) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const { canWrite } = useStaff();
  const labelMutation = useMutation(trpc.sessions.label.mutationOptions());
  const unlabelMutation = useMutation(trpc.sessions.unlabel.mutationOptions());
  /** Sessions as they were before each change, the latest last. */
  const undoable = useRef<Session[]>([]);

  const show = (session: Session) => {
    const replace = (rows: Session[]) => rows.map((row) => (row.id === session.id ? session : row));
    for (const queryKey of [trpc.sessions.list.pathKey(), trpc.users.listSessions.pathKey()])
      queryClient.setQueriesData<Sessions>(
        { queryKey },
        (data) => data && { ...data, pages: data.pages.map((page) => ({ ...page, data: replace(page.data) })) },
      );
    queryClient.setQueryData(trpc.sessions.get.queryKey({ sessionId: session.id }), session);
  };
  const read = (sessionId: string) =>
    queryClient.fetchQuery({ ...trpc.sessions.get.queryOptions({ sessionId }), staleTime: 0 });

  /** Shows `after` at once, calls `send`, then shows the server's result. */
  const apply = async (before: Session, after: Session, send: () => Promise<unknown>) => {
    show(after);
    try {
      await send();
    } catch (error) {
      show(before);
      toast({ text: `Not saved. ${describeError(error)}`, isError: true });
      return;
    }
    show(await read(before.id).catch(() => after));
    void queryClient.invalidateQueries({ queryKey: trpc.stats.pathKey() });
    void queryClient.invalidateQueries({ queryKey: trpc.analytics.pathKey() });
  };

  const restore = (before: Session, now: Session) => {
    const { label } = before;
    onUndo?.(before);
    void apply(now, before, () =>
      label
        ? labelMutation.mutateAsync({
            sessionId: before.id,
            verdict: label.verdict,
            confidence: label.confidence,
            notes: label.notes,
          })
        : unlabelMutation.mutateAsync({ sessionId: before.id }),
    );
  };

  const label = (session: Session, verdict: Verdict) => {
    if (!canWrite) return toast({ text: 'Your role is viewer: you cannot label.', isError: true });
    // A label alone decides the class, whatever the score.
    const after: Session = {
      ...session,
      riskLevel: verdict,
      label: { verdict, confidence: null, notes: null, labeledAt: new Date().toISOString() },
    };
    undoable.current.push(session);
    void apply(session, after, () => labelMutation.mutateAsync({ sessionId: session.id, verdict }));
    toast({
      text: `Labelled ${verdict}${session.userName ? `: ${session.userName}` : ''}`,
      undo: () => {
        undoable.current = undoable.current.filter((other) => other !== session);
        restore(session, after);
      },
    });
  };

  const undo = () => {
    const before = undoable.current.pop();
    if (!before) return toast({ text: 'Nothing to undo' });
    restore(before, queryClient.getQueryData<Session>(trpc.sessions.get.queryKey({ sessionId: before.id })) ?? before);
  };
  return { label, undo, canWrite };
}
