'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { Session, Verdict } from '../../../../contract/sessions';
import { RiskShape } from '../../components/badge';
import { Button } from '../../components/button';
import { showCount } from '../../components/count';
import { ConfirmDialog } from '../../components/dialog';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { describeError, readNow } from '../../query-client';
import { useStaff } from '../../staff';
import type { useLabeling } from './labeling';
import { type VerdictDetails, VerdictDetailsForm } from './verdict-details';

/** So many the API labels at once. */
const MAX_BULK = 200;
/** So many failures are named. */
const MAX_NAMED = 5;

type Chosen = Pick<Session, 'id' | 'label'>;

interface BulkBarProps {
  sessions: readonly Chosen[];
  labeling: Pick<ReturnType<typeof useLabeling>, 'enqueue' | 'findSeenTime' | 'noteBulk'>;
  onClear(): void;
  onLabeled?: (ids: string[], verdict: Verdict) => void;
  onUndone?: (ids: string[]) => void;
}

const sessionsOf = (count: number) => `${showCount(count)} ${count === 1 ? 'session' : 'sessions'}`;

/** Says how many sessions are chosen, and labels them together after a question. The whole can be undone. */
export function BulkBar({ sessions, labeling, onClear, onLabeled, onUndone }: BulkBarProps) {
  const { canWrite } = useStaff();
  const [asked, ask] = useState<Verdict | null>(null);
  const bulk = useBulkLabeling({ labeling, onLabeled, onUndone });
  if (sessions.length === 0) return bulk.failures;
  const isTooMany = sessions.length > MAX_BULK;
  return (
    <section aria-label="Chosen sessions" className="mb-2 flex flex-wrap items-center gap-2">
      <span role="status">{sessionsOf(sessions.length)} chosen</span>
      {(['bot', 'human'] as const).map((verdict) => (
        <Button key={verdict} disabled={!canWrite || isTooMany} onClick={() => ask(verdict)}>
          <RiskShape level={verdict} /> Label as {verdict} …
        </Button>
      ))}
      <Button kind="quiet" onClick={onClear}>
        Choose none
      </Button>
      {isTooMany && <span className="text-muted text-xs">At most {MAX_BULK} can be labelled at once.</span>}
      {bulk.failures}
      {asked && (
        <BulkDialog
          verdict={asked}
          sessions={sessions}
          onClose={() => ask(null)}
          onConfirm={async (details) => {
            await bulk.label(sessions, asked, details);
            onClear();
          }}
        />
      )}
    </section>
  );
}

interface BulkDialogProps {
  verdict: Verdict;
  sessions: readonly Chosen[];
  onClose(): void;
  onConfirm(details: VerdictDetails): Promise<void>;
}

function BulkDialog({ verdict, sessions, onClose, onConfirm }: BulkDialogProps) {
  // What is left empty replaces what a label said: notes for one verdict would stand under the other.
  const [details, setDetails] = useState<VerdictDetails>({ confidence: null, reasons: [], notes: null });
  const labeled = sessions.filter(({ label }) => label !== null).length;
  return (
    <ConfirmDialog
      isOpen
      kind="plain"
      title={`Label ${sessionsOf(sessions.length)} as ${verdict}?`}
      act={`Label ${showCount(sessions.length)} as ${verdict}`}
      consequence={
        <div className="space-y-4">
          <p>
            {labeled > 0
              ? `${sessionsOf(labeled)} of them ${labeled === 1 ? 'has' : 'have'} a label, which this replaces. `
              : ''}
            Each gets the same reasons and notes. You can undo it.
          </p>
          {/* A form, so that what is typed there keeps the dialog open. */}
          <form onSubmit={(event) => event.preventDefault()}>
            <VerdictDetailsForm
              verdict={verdict}
              value={details}
              onChange={(changed) => setDetails((now) => ({ ...now, ...changed }))}
            />
          </form>
        </div>
      }
      onClose={onClose}
      onConfirm={() => onConfirm(details)}
    />
  );
}

/** Labels several sessions with one call, and undoes the whole. `failures` names those that were not changed, until dismissed. */
function useBulkLabeling({ labeling, onLabeled, onUndone }: Omit<BulkBarProps, 'sessions' | 'onClear'>) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const [failed, setFailed] = useState<{ sessionId: string; message: string }[]>([]);
  const setVerdicts = useMutation(trpc.review.setVerdicts.mutationOptions());
  const undoVerdicts = useMutation(trpc.review.undoVerdicts.mutationOptions());
  /**
   * Reads what the page shows again, and the changed sessions even if it shows others: their next change says which label was seen. A
   * change is not over before, or the next one could come first.
   */
  const refresh = (sessionIds: string[]) =>
    Promise.all([
      ...[trpc.sessions, trpc.review.listCases, trpc.users.listSessions, trpc.stats, trpc.analytics].map((part) =>
        queryClient.invalidateQueries({ queryKey: part.pathKey() }),
      ),
      ...sessionIds.map((sessionId) =>
        readNow(queryClient, trpc.sessions.get.queryOptions({ sessionId })).catch(() => {}),
      ),
    ]);

  const undo = async (
    labeled: Awaited<ReturnType<typeof setVerdicts.mutateAsync>>['labeled'],
    offerAgain: () => () => void,
  ) => {
    const verdicts = labeled.map(({ sessionId, labeledAt, previous }) => ({
      ...{ sessionId, labeledAt, previousLabeledAt: previous?.labeledAt ?? null },
    }));
    const ids = labeled.map(({ sessionId }) => sessionId);
    await labeling.enqueue(ids, async () => {
      try {
        const { undone, failed } = await undoVerdicts.mutateAsync({ verdicts });
        setFailed(failed);
        onUndone?.(undone);
        await refresh(ids);
        toast({ text: `Undone: ${sessionsOf(undone.length)}` });
      } catch (error) {
        toast({ text: `Not undone. ${describeError(error)}`, isError: true, undo: offerAgain() });
        await refresh(ids);
      }
    });
  };
  const label = (sessions: readonly Chosen[], verdict: Verdict, details: VerdictDetails) =>
    labeling.enqueue(
      sessions.map(({ id }) => id),
      async () => {
        const seen = sessions.map((session) => ({
          sessionId: session.id,
          seenLabeledAt: labeling.findSeenTime(session),
        }));
        const { labeled, failed } = await setVerdicts.mutateAsync({ ...details, verdict, sessions: seen });
        setFailed(failed);
        const ids = labeled.map(({ sessionId }) => sessionId);
        onLabeled?.(ids, verdict);
        await refresh(ids);
        if (labeled.length > 0)
          toast({
            text: `Labelled ${verdict}: ${sessionsOf(labeled.length)}`,
            undo: labeling.noteBulk(ids, (offerAgain) => void undo(labeled, offerAgain)),
          });
      },
    );
  const failures: ReactNode = failed.length > 0 && (
    <div
      role="alert"
      className="flex w-full items-start gap-3 rounded border border-danger/40 bg-danger-soft px-3 py-2 text-xs"
    >
      <div className="min-w-0 flex-1">
        <p className="font-medium">{sessionsOf(failed.length)} not changed</p>
        <ul>
          {failed.slice(0, MAX_NAMED).map(({ sessionId, message }) => (
            <li key={sessionId} className="wrap-anywhere">
              {sessionId}: {message}
            </li>
          ))}
          {failed.length > MAX_NAMED && <li>and {showCount(failed.length - MAX_NAMED)} more</li>}
        </ul>
      </div>
      <Button isSmall onClick={() => setFailed([])}>
        Dismiss
      </Button>
    </div>
  );
  return { label, failures };
}
