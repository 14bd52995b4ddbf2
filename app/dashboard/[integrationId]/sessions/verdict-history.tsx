'use client';
import { useQuery } from '@tanstack/react-query';
import type { HistoryStep } from '../../../../contract/session-history';
import { RiskBadge } from '../../components/badge';
import { showScore } from '../../components/score-bar';
import { Time } from '../../components/time';
import { useTRPC } from '../../queries';
import { describeStep } from './history-words';

const MAX_SHORT = 3;

/** The latest verdicts of a session, for a place with little room. Nothing if nobody has judged it. */
export function VerdictHistory({ sessionId }: { sessionId: string }) {
  const trpc = useTRPC();
  const { data } = useQuery(trpc.sessions.getHistory.queryOptions({ sessionId }));
  const steps = data?.steps ?? [];
  const verdicts = steps.flatMap((step, index) => (step.labeledBy === null ? [] : [index])).slice(-MAX_SHORT);
  if (verdicts.length === 0) return null;
  return (
    <section>
      <h3 className="mb-1 font-medium text-muted text-xs">Verdicts</h3>
      <ol className="space-y-1.5">
        {verdicts.toReversed().map((index) => (
          <HistoryEntry key={index} step={steps[index]!} before={steps[index - 1]} />
        ))}
      </ol>
    </section>
  );
}

/** A step with the class that it led to, and what decided then. */
export function HistoryEntry({ step, before }: { step: HistoryStep; before: HistoryStep | undefined }) {
  const { botScore, ruleSetVersion, mediumAt, botAt, notes } = step;
  const isVerdict = step.labeledBy !== null;
  // Notes stay from label to label. They are shown where they were written.
  const isNew = isVerdict && notes && notes !== before?.notes;
  return (
    <li className="flex items-start gap-2">
      <span className="w-18 shrink-0">
        <RiskBadge level={step.riskLevel} />
      </span>
      <div className="min-w-0 flex-1">
        <p className="wrap-anywhere">{describeStep(step, before)}</p>
        {isNew && <p className="wrap-anywhere line-clamp-3 text-muted">“{notes}”</p>}
        <p className="wrap-anywhere text-faint text-xs">
          <Time at={step.at} />
          {isVerdict && (
            <>
              {' '}
              · score {botScore === null ? 'none' : showScore(botScore)} · medium from {mediumAt}, bot from {botAt}
            </>
          )}
          {ruleSetVersion && (isVerdict || step.cause === 'Scored') && ` · rules ${ruleSetVersion}`}
        </p>
      </div>
    </li>
  );
}
