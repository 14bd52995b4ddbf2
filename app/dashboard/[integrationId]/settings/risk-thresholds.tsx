'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ScoreDistribution } from '../../../../contract/analytics';
import type { RiskThresholds as Thresholds } from '../../../../contract/risk-thresholds';
import { countMoves, ScoreHistogram } from '../../charts/score-histogram';
import { RISK_WORDS } from '../../components/badge';
import { Button } from '../../components/button';
import { showCount } from '../../components/count';
import { Field, Input } from '../../components/field';
import { FormFault } from '../../components/form-fault';
import { RoleNote } from '../../components/role-note';
import { ErrorState, Skeleton } from '../../components/states';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { describeError, findFault, readNow } from '../../query-client';
import { useStaff } from '../../staff';
import { CutHandles } from './cut-handles';
import { ErrorRatesSection } from './error-rates';

const FIELDS = [
  { cut: 'mediumAt', name: 'Medium from' },
  { cut: 'botAt', name: 'Bot from' },
] as const;

/** The cut points of the risk classes, above the scores of all sessions. */
export function RiskThresholdsEditor({ minGap }: { minGap: number }) {
  const trpc = useTRPC();
  const saved = useQuery(trpc.riskThresholds.get.queryOptions({}));
  const distribution = useQuery(trpc.analytics.getScoreDistribution.queryOptions());
  const failed = [saved, distribution].find(({ error }) => error);
  if (saved.data && distribution.data)
    return <Editor minGap={minGap} saved={saved.data} distribution={distribution.data} />;
  if (failed) return <ErrorState message={describeError(failed.error)} onRetry={() => void failed.refetch()} />;
  return <Skeleton className="h-[400px]" />;
}

interface EditorProps {
  minGap: number;
  saved: Thresholds;
  distribution: ScoreDistribution;
}

function Editor({ minGap, saved, distribution }: EditorProps) {
  const { canWrite } = useStaff();
  /** The cut points that were moved. The others are those that somebody else may save meanwhile. */
  const [draft, setDraft] = useState<Partial<Thresholds>>({});
  const { save, isSaving, error } = useSaving((moved) => setDraft((now) => forgetSaved(now, moved)));
  const shown = { ...saved, ...draft };
  const isChanged = shown.mediumAt !== saved.mediumAt || shown.botAt !== saved.botAt;
  const isTooClose = shown.botAt - shown.mediumAt < minGap;
  const faultOf = (cut: keyof Thresholds) => {
    if (cut === 'botAt' && isTooClose) return `At least ${minGap} above medium`;
    return findFault(error, cut);
  };
  return (
    <div className="max-w-5xl space-y-4">
      <p className="text-muted">
        A session is medium or bot from these scores on. Sessions change class at once when they are saved; no webhook
        fires for it.
      </p>
      <ScoreHistogram
        distribution={distribution}
        thresholds={shown}
        overlay={
          <CutHandles
            thresholds={shown}
            minGap={minGap}
            isDisabled={!canWrite}
            onChange={(next) => setDraft({ ...draft, ...listMoved(shown, next) })}
          />
        }
      />
      <form
        data-draft={isChanged}
        className="space-y-4 rounded border border-line bg-surface p-4"
        onSubmit={(event) => {
          event.preventDefault();
          void save(draft);
        }}
      >
        <div className="flex flex-wrap items-start gap-4">
          {FIELDS.map(({ cut, name }) => (
            <Field key={cut} label={name} error={faultOf(cut)}>
              <CutInput
                value={shown[cut]}
                isDisabled={!canWrite}
                onChange={(value) => setDraft({ ...draft, [cut]: value })}
              />
            </Field>
          ))}
          <div className="flex gap-2 sm:pt-5">
            <Button kind="primary" type="submit" disabled={!canWrite || !isChanged || isTooClose || isSaving}>
              Save thresholds
            </Button>
            <Button kind="quiet" disabled={!isChanged} onClick={() => setDraft({})}>
              Reset
            </Button>
          </div>
        </div>
        <Consequence {...{ distribution, saved, shown, isChanged }} />
        <FormFault error={error} />
        <RoleNote needs="analyst" act="change the thresholds" />
      </form>
      <ErrorRatesSection thresholds={shown} saved={saved} />
    </div>
  );
}

/** Lists the cut points that differ. */
const listMoved = (before: Thresholds, after: Thresholds): Partial<Thresholds> =>
  Object.fromEntries(FIELDS.filter(({ cut }) => before[cut] !== after[cut]).map(({ cut }) => [cut, after[cut]]));

/** Forgets the cut points that were saved. One that was moved again while they were on their way is not. */
const forgetSaved = (now: Partial<Thresholds>, saved: Partial<Thresholds>): Partial<Thresholds> =>
  Object.fromEntries(Object.entries(now).filter(([cut, value]) => saved[cut as keyof Thresholds] !== value));

/** Saves the cut points that were moved. The notification offers to move them back, unless somebody has moved them since. */
function useSaving(onSaved: (moved: Partial<Thresholds>) => void) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const update = useMutation(trpc.riskThresholds.update.mutationOptions());
  const stored = trpc.riskThresholds.get.queryOptions({});
  const [isSaving, setSaving] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const save = async (moved: Partial<Thresholds>, undone?: Thresholds) => {
    setSaving(true);
    setError(null);
    // A promise, because callbacks of `mutate` are not called any more when somebody has left the page, and undoes from there.
    try {
      const before = await readNow(queryClient, stored);
      if (undone && Object.keys(listMoved(undone, before)).some((cut) => cut in moved))
        return toast({ text: 'Somebody has moved the cut point since, so it stays', isError: true });
      const next = { ...before, ...moved };
      const after = await update.mutateAsync(next);
      queryClient.setQueryData(stored.queryKey, after);
      // Classes show on every page.
      void queryClient.invalidateQueries();
      // Later moves are not undone.
      if (!undone) onSaved(moved);
      toast({
        text: `Medium from ${after.mediumAt}, bot from ${after.botAt}`,
        ...(undone ? {} : { undo: () => void save(listMoved(next, before), next) }),
      });
    } catch (failure) {
      // The page shows why it could not be saved.
      if (undone)
        toast({
          text: `Not undone. ${describeError(failure)}`,
          ...{ isError: true, undo: () => void save(moved, undone) },
        });
      else setError(failure);
    } finally {
      setSaving(false);
    }
  };
  return { save, isSaving, error };
}

/** How many sessions would change class, by direction. */
function Consequence({
  distribution,
  saved,
  shown,
  isChanged,
}: Pick<EditorProps, 'distribution' | 'saved'> & { shown: Thresholds; isChanged: boolean }) {
  const moves = countMoves(distribution, saved, shown);
  const total = moves.reduce((sum, { sessions }) => sum + sessions, 0);
  return (
    <div role="status" className="min-h-10">
      <p className={isChanged ? 'font-medium' : 'text-muted'}>
        {!isChanged
          ? 'Move a cut point to see how many sessions change class.'
          : total === 0
            ? 'No session changes class.'
            : `${showCount(total)} ${total === 1 ? 'session changes' : 'sessions change'} class:`}
      </p>
      <ul className="flex flex-wrap gap-x-6 text-muted">
        {moves.map(({ from, to, sessions }) => (
          <li key={`${from} ${to}`}>
            {showCount(sessions)} from {RISK_WORDS[from].toLowerCase()} to {RISK_WORDS[to].toLowerCase()}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A field for a whole number from 0 to 100. It keeps unfinished input as typed. */
function CutInput({
  value,
  isDisabled,
  onChange,
}: {
  value: number;
  isDisabled: boolean;
  onChange(value: number): void;
}) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <Input
      type="number"
      min={0}
      max={100}
      className="w-28"
      disabled={isDisabled}
      value={typed ?? value}
      onChange={({ target }) => {
        setTyped(target.value);
        if (/^\d{1,2}$|^100$/.test(target.value)) onChange(Number(target.value));
      }}
      onBlur={() => setTyped(null)}
    />
  );
}
