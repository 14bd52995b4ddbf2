'use client';
import { type InfiniteData, useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import type { Page } from '../../../../contract/pagination';
import type { Session, SetVerdict, Verdict } from '../../../../contract/sessions';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { describeError } from '../../query-client';
import { useStaff } from '../../staff';

type Sessions = InfiniteData<Page<Session>>;

/** A label that this page has set. */
interface Step {
  before: Session;
  /** The label before it, as the server found it. */
  previous: SetVerdict['previous'];
  /** Names the label. Null until the server has set it. */
  labeledAt: string | null;
  isUndoable: boolean;
}

/**
 * Labels sessions. A key press sets the verdict, and keeps confidence and notes of the label. The change shows at once in
 * every list and on the session's page, is reverted if the server refuses it, and can be undone with `undo` or from the
 * notification. Afterwards the session is fetched again, because the API decides its class.
 */
export function useLabeling({ onUndo }: { onUndo?: (session: Session) => void } = {}) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const { canWrite } = useStaff();
  const setVerdict = useMutation(trpc.sessions.setVerdict.mutationOptions());
  const undoVerdict = useMutation(trpc.sessions.undoVerdict.mutationOptions());
  /** The latest last. */
  const steps = useRef<Step[]>([]);
  const queues = useRef(new Map<string, Promise<void>>());

  /** Sends the changes of a session one after the other, because an undo names the label that it undoes. */
  const enqueue = (sessionId: string, send: () => Promise<void>): Promise<void> => {
    const sent = (queues.current.get(sessionId) ?? Promise.resolve()).then(send);
    queues.current.set(
      sessionId,
      sent.catch(() => {}),
    );
    return sent;
  };

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
    let shown = after;
    try {
      await send();
    } catch (error) {
      shown = before;
      show(before);
      toast({ text: `Not saved. ${describeError(error)}`, isError: true });
    }
    show(await read(before.id).catch(() => shown));
    const { getTimeline } = trpc.sessions;
    void queryClient.invalidateQueries({ queryKey: getTimeline.queryKey({ sessionId: before.id }) });
    void queryClient.invalidateQueries({ queryKey: trpc.stats.pathKey() });
    void queryClient.invalidateQueries({ queryKey: trpc.analytics.pathKey() });
  };

  const undoStep = (step: Step) => {
    if (!step.isUndoable) return;
    step.isUndoable = false;
    const { before } = step;
    const sessionId = before.id;
    onUndo?.(before);
    const now = queryClient.getQueryData<Session>(trpc.sessions.get.queryKey({ sessionId })) ?? before;
    const send = async () => {
      // The server refused the label.
      if (step.labeledAt === null) return;
      const input = { sessionId, labeledAt: step.labeledAt, verdict: step.previous?.verdict ?? null };
      const { label } = await undoVerdict.mutateAsync(input);
      // The label before it has a new time now. If this page set it too, it can still be undone.
      for (const other of steps.current)
        if (label && other.before.id === sessionId && other.labeledAt === step.previous?.labeledAt)
          other.labeledAt = label.labeledAt;
    };
    void apply(now, before, () => enqueue(sessionId, send));
  };

  const label = (session: Session, verdict: Verdict) => {
    if (!canWrite) return toast({ text: 'Your role is viewer: you cannot label.', isError: true });
    const sessionId = session.id;
    const { confidence, notes } = session.label ?? { confidence: null, notes: null };
    // A label alone decides the class, whatever the score.
    const after: Session = {
      ...session,
      riskLevel: verdict,
      label: { verdict, confidence, notes, labeledAt: new Date().toISOString() },
    };
    const step: Step = { before: session, previous: null, labeledAt: null, isUndoable: true };
    steps.current.push(step);
    const send = async () => {
      const { previous, labeledAt } = await setVerdict.mutateAsync({ sessionId, verdict }).catch((error) => {
        step.isUndoable = false;
        throw error;
      });
      Object.assign(step, { previous, labeledAt });
    };
    void apply(session, after, () => enqueue(sessionId, send));
    toast({
      text: `Labelled ${verdict}${session.userName ? `: ${session.userName}` : ''}`,
      undo: () => undoStep(step),
    });
  };

  const undo = () => {
    const step = steps.current.findLast(({ isUndoable }) => isUndoable);
    if (step) undoStep(step);
    else toast({ text: 'Nothing to undo' });
  };
  return { label, undo, canWrite };
}
