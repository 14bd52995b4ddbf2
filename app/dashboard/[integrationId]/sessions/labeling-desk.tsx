'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useParams, usePathname } from 'next/navigation';
import { createContext, type ReactNode, use, useCallback, useEffect, useRef, useState } from 'react';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { describeError, findCode, findField, isOtherAccount, readNow } from '../../query-client';
import { useStaff } from '../../staff';
import { UnsavedTray } from './unsaved-tray';
import {
  createChangeId,
  describeUnsaved,
  isSentLater,
  MAX_UNSAVED,
  readUnsaved,
  type UnsavedVerdict,
  type VerdictChange,
  writeUnsaved,
} from './unsaved-verdicts';
import { type Explained, VerdictDialog } from './verdict-dialog';
import { type LastVerdict, VerdictStrip } from './verdict-strip';

interface Desk {
  /** Sends a change and keeps it until the server confirms it. Throws what the server refused it for. */
  submit<Result>(
    change: VerdictChange,
    seen: SeenLabel,
    send: (change: VerdictChange) => Promise<Result>,
  ): Promise<Result>;
  /** Forgets a change that is not saved. */
  discard(change: VerdictChange): void;
  isFull(): boolean;
  /** Counts the changes that wait for an earlier one of their session. They are not kept yet, so leaving the page asks first. */
  countWaiting(by: 1 | -1): void;
  offerReasons(last: LastVerdict | null): void;
  /** Undoes the verdict for which reasons are offered, on whatever page it was given. Returns false if there is none. */
  undoOffered(): boolean;
  /** Shows what the server kept of the verdict just given. Null: it refused the verdict. */
  updateReasons(id: string, reasons: LastVerdict['reasons'] | null): void;
  explain(explained: Explained): void;
}

/** How the reviewer saw a session. */
export type SeenLabel = Pick<UnsavedVerdict, 'sessionName' | 'seenLabeledAt'>;

const DeskContext = createContext<Desk | null>(null);

/** Returns what all pages of an integration share for labelling. */
export function useLabelingDesk(): Desk {
  const desk = use(DeskContext);
  if (!desk) throw new Error('useLabelingDesk needs a LabelingDesk above it');
  return desk;
}

/**
 * Changes that the tab keeps. An expired session must not leave the page before it has said so, and to send one again that came through
 * changes nothing.
 */
export const KEPT = { onError: () => {}, meta: { mayRepeat: true } };

/** Whether the error says that the caller is not signed in. */
export const isSignedOut = (error: unknown) => findCode(error) === 'UNAUTHORIZED';

/** A page that is left is gone after this time, or somebody has answered the browser's question and stays. */
const LEAVING_MS = 10_000;

const isLabeledSince = (error: unknown) => /^(seenLabeledAt|labeledAt)$/.test(findField(error) ?? '');

function describeFailure(error: unknown): Pick<UnsavedVerdict, 'state' | 'message'> {
  if (isOtherAccount(error))
    return {
      state: 'SignedOut',
      message: 'Another account is signed in now. It is sent after you have signed in again.',
    };
  if (isSignedOut(error))
    return { state: 'SignedOut', message: 'Your session has expired. It is sent after you have signed in again.' };
  if (!isLabeledSince(error)) return { state: 'Failed', message: describeError(error) };
  return { state: 'LabeledSince', message: 'Not sent: somebody has labelled the session since.' };
}

/**
 * Shared by pages for labelling: the reasons for the last verdict, the form for them, and the tray of unsaved changes. What
 * the tab kept over a sign-in is sent to the session for which it was decided.
 */
export function LabelingDesk({ children }: { children: ReactNode }) {
  const { integrationId } = useParams<{ integrationId: string }>();
  const { staff } = useStaff();
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const setVerdict = useMutation(trpc.sessions.setVerdict.mutationOptions(KEPT));
  const undoVerdict = useMutation(trpc.sessions.undoVerdict.mutationOptions(KEPT));
  const removeLabel = useMutation(trpc.sessions.removeLabel.mutationOptions(KEPT));
  const [unsaved, setUnsaved] = useState<readonly UnsavedVerdict[]>([]);
  const list = useRef<readonly UnsavedVerdict[]>([]);
  const [last, setLast] = useState<LastVerdict | null>(null);
  const [explained, setExplained] = useState<Explained | null>(null);
  const owner = { staffId: staff.id, integrationId: decodeURIComponent(integrationId) };

  const keep = (next: readonly UnsavedVerdict[]) => {
    list.current = next;
    setUnsaved(next);
    writeUnsaved(window.sessionStorage, owner, next);
  };
  const drop = ({ id }: UnsavedVerdict) => keep(list.current.filter((one) => one.id !== id));
  /** A later change of the session replaces an earlier one. */
  const put = (entry: UnsavedVerdict) =>
    keep([...list.current.filter(({ sessionId }) => sessionId !== entry.sessionId), entry]);
  const update = (entry: UnsavedVerdict, fields: Partial<UnsavedVerdict>) =>
    keep(list.current.map((one) => (one.id === entry.id ? { ...one, ...fields } : one)));

  const leftAtMs = useRef(Number.NEGATIVE_INFINITY);
  /**
   * Waits while the page is being left, if a change got no answer: browsers end the requests of such a page, some before it is hidden. The
   * tab keeps the change as one that is being sent, and the next page sends it.
   */
  const untilStays = async (error: unknown) => {
    const leftMs = leftAtMs.current + LEAVING_MS - performance.now();
    if (leftMs > 0 && findCode(error) === null) await new Promise((resolve) => setTimeout(resolve, leftMs));
  };

  const submit: Desk['submit'] = async (change, seen, send) => {
    const { sessionId } = change.input;
    const entry: UnsavedVerdict = {
      ...{ id: createChangeId(), sessionId, change, ...seen },
      ...{ state: 'Sending', message: null },
    };
    put(entry);
    try {
      const result = await send(change);
      drop(entry);
      return result;
    } catch (error) {
      await untilStays(error);
      update(entry, describeFailure(error));
      throw error;
    }
  };

  const send = (change: VerdictChange): Promise<unknown> => {
    if (change.kind === 'set') return setVerdict.mutateAsync(change.input);
    return change.kind === 'undo' ? undoVerdict.mutateAsync(change.input) : removeLabel.mutateAsync(change.input);
  };
  /** Whether the answer to an earlier try was lost: the latest change of the session is this one. */
  const isDone = async ({ change, sessionId }: UnsavedVerdict) => {
    const { steps } = await readNow(queryClient, trpc.sessions.getHistory.queryOptions({ sessionId }));
    const step = steps.findLast(({ labeledBy }) => labeledBy !== null);
    if (step?.labeledBy?.name !== staff.email) return false;
    if (change.kind !== 'set') return step.cause === (change.kind === 'undo' ? 'LabelUndone' : 'LabelRemoved');
    const { verdict, reasons = step.reasons } = change.input;
    return step.cause === 'Labeled' && step.verdict === verdict && reasons.every((one) => step.reasons.includes(one));
  };
  const retry = async (entry: UnsavedVerdict, isForced = false) => {
    const { change, seenLabeledAt } = entry;
    update(entry, { state: 'Sending', message: null });
    try {
      const isGuarded = change.kind === 'set' && !isForced;
      await send(isGuarded ? { kind: 'set', input: { ...change.input, seenLabeledAt } } : change);
    } catch (error) {
      await untilStays(error);
      if (!isLabeledSince(error) || !(await isDone(entry).catch(() => false)))
        return update(entry, describeFailure(error));
    }
    drop(entry);
    toast({ text: `Saved: ${describeUnsaved(entry)}` });
    for (const part of [trpc.sessions, trpc.users, trpc.courses, trpc.stats, trpc.analytics])
      void queryClient.invalidateQueries({ queryKey: part.pathKey() });
  };

  const hasBegun = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the page has loaded
  useEffect(() => {
    if (hasBegun.current) return;
    hasBegun.current = true;
    const kept = readUnsaved(window.sessionStorage, owner);
    keep(kept);
    void (async () => {
      for (const entry of kept) if (isSentLater(entry)) await retry(entry);
    })();
  }, []);

  const waitingCount = useRef(0);
  useEffect(() => {
    const leave = (event: BeforeUnloadEvent) => {
      leftAtMs.current = performance.now();
      // The browser shows its standard question.
      if (waitingCount.current > 0) event.preventDefault();
    };
    window.addEventListener('beforeunload', leave);
    return () => window.removeEventListener('beforeunload', leave);
  }, []);

  const closeStrip = useCallback(() => setLast(null), []);
  // Its keys mean something else on other pages.
  const isReviewing = /\/(sessions|review|users|courses)(\/|$)/.test(usePathname());
  useEffect(() => {
    if (!isReviewing) setLast(null);
  }, [isReviewing]);
  const desk: Desk = {
    submit,
    discard: (change) => keep(list.current.filter((one) => one.change !== change)),
    isFull: () => list.current.length >= MAX_UNSAVED,
    countWaiting: (by) => {
      waitingCount.current += by;
    },
    offerReasons: setLast,
    undoOffered() {
      last?.undo();
      return last !== null;
    },
    updateReasons: (id, reasons) => setLast((shown) => (shown?.id !== id ? shown : reasons && { ...shown, reasons })),
    explain: setExplained,
  };
  return (
    <DeskContext value={desk}>
      {children}
      <UnsavedTray
        unsaved={unsaved}
        base={`/dashboard/${integrationId}`}
        onRetry={(entry, isForced) => void retry(entry, isForced)}
        onDiscard={drop}
      />
      <p role="status" className="sr-only">
        {last && `Labelled ${last.verdict}: ${last.sessionName}`}
      </p>
      <section
        aria-label="Reasons for the last verdict"
        className="fixed right-4 bottom-4 left-4 z-30 empty:hidden max-lg:[body:has([data-step-bar])_&]:bottom-16 lg:left-[14.5rem] xl:right-[26.5rem]"
      >
        {last && isReviewing && <VerdictStrip key={last.id} last={last} onClose={closeStrip} />}
      </section>
      {explained && (
        <VerdictDialog key={explained.session.id} explained={explained} onClose={() => setExplained(null)} />
      )}
    </DeskContext>
  );
}
