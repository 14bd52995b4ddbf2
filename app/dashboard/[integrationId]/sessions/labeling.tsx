'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import type { SessionHistory } from '../../../../contract/session-history';
import type { Session, SetVerdict, Verdict } from '../../../../contract/sessions';
import { shortenId } from '../../components/copying';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { readNow } from '../../query-client';
import { useStaff } from '../../staff';
import { isSignedOut, KEPT, useLabelingDesk } from './labeling-desk';
import { holdInLists, showInLists } from './session-lists';
import { createChangeId, MAX_UNSAVED, type VerdictChange } from './unsaved-verdicts';
import type { VerdictDetails } from './verdict-details';

/** A label that this page has set, with the details that followed it. */
interface Step {
  id: string;
  before: Session;
  verdict: Verdict;
  /** The label before it, as the server found it. */
  previous: SetVerdict['previous'];
  /** Names the label. Null until the server has set it. */
  labeledAt: string | null;
  isUndoable: boolean;
  /** Whether reasons followed it. Then the answer to the label itself says nothing of them. */
  hasReasons: boolean;
}

const FULL_TRAY = `${MAX_UNSAVED} verdicts are not saved. Send or discard them first.`;
const nameOf = ({ userName, id }: Session) => userName ?? `session ${shortenId(id)}`;

const findReasons = (history: SessionHistory | undefined) =>
  history?.steps.findLast(({ labeledBy }) => labeledBy !== null)?.reasons ?? [];

interface LabelingOptions {
  onUndo?: (session: Session) => void;
  /** The server did not take the label. */
  onRefused?: (session: Session) => void;
}

/**
 * Labels sessions. `label` sets the verdict and the given details, and keeps the other details of the label. The change
 * shows at once in every list and on the session's page. If the server refuses it, it is reverted and stays in the tray of
 * unsaved changes. No label of a colleague is replaced unseen. `undo` takes back the last label with the details that
 * followed it. Afterwards the session is fetched again, because the API decides its class.
 */
export function useLabeling({ onUndo, onRefused }: LabelingOptions = {}) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const desk = useLabelingDesk();
  const { canWrite } = useStaff();
  const setVerdict = useMutation(trpc.sessions.setVerdict.mutationOptions(KEPT));
  const undoVerdict = useMutation(trpc.sessions.undoVerdict.mutationOptions(KEPT));
  const removing = useMutation(trpc.sessions.removeLabel.mutationOptions(KEPT));
  /** The latest last. */
  const steps = useRef<Step[]>([]);
  /** The last labels of several sessions together, and how many steps there were before. */
  const latestBulk = useRef<{ steps: number; undo(): void } | null>(null);
  const queues = useRef(new Map<string, Promise<void>>());
  /**
   * The server's time of a label, by session and by the time that this page shows for it. The two differ while a label is being
   * sent, and after an undo. Null: the server has no label.
   */
  const serverTimes = useRef(new Map<string, string | null>());

  /**
   * Sends a change of one or several sessions after each session's earlier ones: an undo names the label that it undoes, and
   * a label names the one that the reviewer saw.
   */
  const enqueue = <Result,>(sessionIds: string[], send: () => Promise<Result>): Promise<Result> => {
    desk.countWaiting(1);
    const sent = Promise.all(sessionIds.map((id) => queues.current.get(id))).then(() => {
      desk.countWaiting(-1);
      return send();
    });
    const ended = sent.then(() => {}).catch(() => {});
    for (const id of sessionIds) queues.current.set(id, ended);
    return sent;
  };

  const listKeys = [trpc.sessions.list, trpc.sessions.listSorted, trpc.users.listSessions].map((list) =>
    list.pathKey(),
  );
  const show = (session: Session) => {
    showInLists(queryClient, listKeys, session);
    queryClient.setQueryData(trpc.sessions.get.queryKey({ sessionId: session.id }), session);
  };
  const read = (sessionId: string) => readNow(queryClient, trpc.sessions.get.queryOptions({ sessionId }));
  /** The session as it is shown now. */
  const findShown = (session: Session) =>
    queryClient.getQueryData<Session>(trpc.sessions.get.queryKey({ sessionId: session.id })) ?? session;

  /**
   * Shows `after` at once, sends the change, then shows the server's result, unless the session was changed again since: then the
   * later change shows what came of both.
   */
  const apply = async (before: Session, after: Session, send: () => Promise<void>) => {
    // The answer to a read that has begun is older than `after`.
    void queryClient.cancelQueries({ queryKey: trpc.sessions.get.queryKey({ sessionId: before.id }) });
    show(after);
    const sending = enqueue([before.id], send);
    const last = queues.current.get(before.id);
    const isLatest = () => queues.current.get(before.id) === last;
    let shown = after;
    const release = holdInLists(queryClient, listKeys, () => (isLatest() ? shown : null));
    try {
      try {
        await sending;
      } catch (error) {
        shown = before;
        if (isLatest()) show(before);
        // Any further read would leave for the sign-in.
        if (isSignedOut(error)) return;
      }
      if (!isLatest()) return;
      shown = await read(before.id).catch(() => shown);
      if (!isLatest()) return;
      show(shown);
    } finally {
      void release();
    }
    const { getTimeline, getHistory } = trpc.sessions;
    void queryClient.invalidateQueries({ queryKey: getTimeline.queryKey({ sessionId: before.id }) });
    void queryClient.invalidateQueries({ queryKey: getHistory.queryKey({ sessionId: before.id }) });
    for (const counts of [trpc.stats, trpc.analytics, trpc.users.get, trpc.courses.get])
      void queryClient.invalidateQueries({ queryKey: counts.pathKey() });
  };

  const keyOf = ({ id }: Pick<Session, 'id'>, labeledAt: string) => `${labeledAt} ${id}`;
  /**
   * Finds the server's time of the label that a session shows. Call it when the changes before are sent: what they have made of a label was
   * seen too.
   */
  const findSeenTime = (session: Pick<Session, 'id' | 'label'>): string | null => {
    let at = session.label?.labeledAt ?? null;
    // The clocks of page and server differ, so a time that the page made up may be one of the server too.
    const passed = new Set<string>();
    while (at !== null && !passed.has(at)) {
      passed.add(at);
      const known = serverTimes.current.get(keyOf(session, at));
      if (known !== undefined) at = known;
    }
    return at;
  };
  /** How the reviewer sees a session. */
  const lookAt = (session: Session) => ({ sessionName: nameOf(session), seenLabeledAt: findSeenTime(session) });

  const undoStep = (step: Step) => {
    if (!step.isUndoable) return;
    step.isUndoable = false;
    desk.offerReasons(null);
    const { before } = step;
    const sessionId = before.id;
    onUndo?.(before);
    const now = findShown(before);
    const send = async () => {
      // The server refused the label.
      if (step.labeledAt === null) return;
      const input = { sessionId, labeledAt: step.labeledAt, previousLabeledAt: step.previous?.labeledAt ?? null };
      const { label } = await desk.submit({ kind: 'undo', input }, lookAt(now), () => undoVerdict.mutateAsync(input));
      for (const at of [step.labeledAt, before.label?.labeledAt])
        if (at) serverTimes.current.set(keyOf(before, at), label?.labeledAt ?? null);
      // The label before it has a new time now. If this page set it too, it can still be undone.
      for (const other of steps.current)
        if (label && other.before.id === sessionId && other.labeledAt === step.previous?.labeledAt)
          other.labeledAt = label.labeledAt;
    };
    void apply(now, before, send);
  };

  /** Finds the label that the details complete: the last one of this page, if it says the same. */
  const findCompleted = (sessionId: string, verdict: Verdict) => {
    const step = steps.current.findLast(({ before }) => before.id === sessionId);
    return step?.isUndoable && step.verdict === verdict ? step : undefined;
  };

  const refuse = (text: string) => {
    toast({ text, isError: true });
    return false;
  };

  /** Returns whether the label is shown and on its way. */
  const label = (session: Session, verdict: Verdict, details: VerdictDetails = {}): boolean => {
    if (!canWrite) return refuse('Your role is viewer: you cannot label.');
    if (desk.isFull()) return refuse(FULL_TRAY);
    const sessionId = session.id;
    const completed = Object.keys(details).length > 0 ? findCompleted(sessionId, verdict) : undefined;
    const now = completed ? findShown(session) : session;
    const { confidence = now.label?.confidence ?? null, notes = now.label?.notes ?? null } = details;
    const labeledAt = new Date().toISOString();
    // A label alone decides the class, whatever the score.
    const after: Session = { ...now, riskLevel: verdict, label: { verdict, confidence, notes, labeledAt } };
    const step: Step = completed ?? {
      ...{ id: createChangeId(), before: session, verdict, previous: null, labeledAt: null, isUndoable: true },
      hasReasons: false,
    };
    if (!completed) steps.current.push(step);
    if (details.reasons) step.hasReasons = true;
    const input = { sessionId, verdict, ...details };
    const send = async () => {
      // Details complete the label of this page, whatever is shown by now.
      const seenLabeledAt = completed?.labeledAt ?? lookAt(now).seenLabeledAt;
      // Until the server has set it, and if it refuses.
      serverTimes.current.set(keyOf(session, labeledAt), seenLabeledAt);
      const set = await desk
        .submit({ kind: 'set', input }, { sessionName: nameOf(session), seenLabeledAt }, () =>
          setVerdict.mutateAsync({ ...input, seenLabeledAt }),
        )
        .catch((error) => {
          if (!completed) {
            step.isUndoable = false;
            onRefused?.(session);
          }
          desk.updateReasons(step.id, null);
          throw error;
        });
      step.labeledAt = set.labeledAt;
      serverTimes.current.set(keyOf(session, labeledAt), set.labeledAt);
      if (!completed) step.previous = set.previous;
      if (!step.hasReasons) desk.updateReasons(step.id, set.reasons);
    };
    void apply(now, after, send);
    desk.offerReasons({
      ...{ id: step.id, sessionName: nameOf(session), verdict, reasons: details.reasons ?? [] },
      setReasons: (reasons) => label(session, verdict, { reasons }),
      explain: () => explain(session),
      undo: () => undoStep(step),
    });
    return true;
  };

  /** Opens the form for the reasons of a label. */
  const explain = (session: Session) => {
    const sessionId = session.id;
    if (!canWrite) return toast({ text: 'Your role is viewer: you cannot label.', isError: true });
    const shown = findShown(session);
    if (!shown.label) return toast({ text: 'Label the session first, with b or h.' });
    // Before somebody writes into the form: it covers the tray.
    if (desk.isFull()) return refuse(FULL_TRAY);
    const { verdict, confidence, notes } = shown.label;
    desk.explain({
      ...{ session: shown, verdict, details: { confidence, notes } },
      async readReasons() {
        // Not before the label is there whose reasons are asked for.
        await queues.current.get(sessionId);
        return findReasons(await readNow(queryClient, trpc.sessions.getHistory.queryOptions({ sessionId })));
      },
      save: (details) => label(session, verdict, details),
    });
  };

  /** Removes the label, so that the score decides again. Returns whether that is on its way. */
  const removeLabel = (session: Session): boolean => {
    const { id: sessionId, label: removed } = session;
    if (!removed || !canWrite) return false;
    if (desk.isFull()) return refuse(FULL_TRAY);
    const reasons = findReasons(queryClient.getQueryData(trpc.sessions.getHistory.queryKey({ sessionId })));
    for (const step of steps.current) if (step.before.id === sessionId) step.isUndoable = false;
    desk.offerReasons(null);
    let refused: VerdictChange | null = null;
    const send = async () => {
      const seen = lookAt(session);
      const input = { sessionId, labeledAt: seen.seenLabeledAt ?? removed.labeledAt };
      const change: VerdictChange = { kind: 'remove', input };
      await desk
        .submit(change, seen, () => removing.mutateAsync(input))
        .catch((error) => {
          refused = change;
          throw error;
        });
    };
    void apply(session, { ...session, label: null }, send);
    const { verdict, confidence, notes } = removed;
    const undoRemoval = async () => {
      if (refused) {
        desk.discard(refused);
        // It may have come through all the same, or was sent again since.
        const now = await read(sessionId).catch(() => null);
        if (now?.label !== null) return;
      }
      // A reviewer who undoes has seen no label but the one that they removed.
      label({ ...findShown(session), label: null }, verdict, { confidence, notes, reasons });
    };
    toast({ text: `Label removed: ${nameOf(session)}`, undo: () => void undoRemoval() });
    return true;
  };

  /**
   * Notes that several sessions were labelled together. Returns what undoes that once, which is also what `undo` does next. `undoBulk` gets
   * what offers it again if it failed.
   */
  const noteBulk = (sessionIds: string[], undoBulk: (offerAgain: () => () => void) => void): (() => void) => {
    for (const step of steps.current) if (sessionIds.includes(step.before.id)) step.isUndoable = false;
    desk.offerReasons(null);
    let isUndone = false;
    const bulk = {
      steps: steps.current.length,
      undo() {
        if (isUndone) return;
        isUndone = true;
        if (latestBulk.current === bulk) latestBulk.current = null;
        undoBulk(() => {
          isUndone = false;
          latestBulk.current ??= bulk;
          return bulk.undo;
        });
      },
    };
    latestBulk.current = bulk;
    return bulk.undo;
  };

  /**
   * Undoes the last label, or the labels that the last several sessions got together. If this page has set none, the one of the
   * page before that is still offered.
   */
  const undo = () => {
    const place = steps.current.findLastIndex(({ isUndoable }) => isUndoable);
    const bulk = latestBulk.current;
    if (bulk && place < bulk.steps) bulk.undo();
    else if (place >= 0) undoStep(steps.current[place]!);
    else if (!desk.undoOffered()) toast({ text: 'Nothing to undo' });
  };
  return { label, explain, removeLabel, undo, noteBulk, enqueue, findSeenTime, canWrite };
}
