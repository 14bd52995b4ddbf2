'use client';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { RiskBadge } from '../../../components/badge';
import { Field, Input } from '../../../components/field';
import { Section } from '../../../components/page-header';
import { Pending } from '../../../components/pending';
import { useTimeZone } from '../../../components/time';
import { useTRPC } from '../../../queries';
import { findInstant, nameZone, showInstant } from '../../../time-zone';
import { explainClass } from '../history-words';
import { HistoryEntry } from '../verdict-history';

interface ClassHistoryProps {
  sessionId: string;
  /** While the session is open. */
  refetchInterval: number | false;
}

const MINUTE_MS = 60_000;

/** Why the session had its class, from its beginning on, and the answer for a chosen time. */
export function ClassHistory({ sessionId, refetchInterval }: ClassHistoryProps) {
  const trpc = useTRPC();
  const query = useQuery(trpc.sessions.getHistory.queryOptions({ sessionId }, { refetchInterval }));
  const { timeZone } = useTimeZone();
  const [chosen, choose] = useState('');
  const { data } = query;
  // The control gives a time in minutes; the answer is for the end of that minute.
  const endMs = findInstant(chosen, timeZone) + MINUTE_MS - 1;
  const answer =
    data && !Number.isNaN(endMs)
      ? explainClass(data, new Date(endMs).toISOString(), (at) => showInstant(at, timeZone))
      : null;
  return (
    <Section title="Why it had its class">
      <Pending query={query} className="h-24" />
      {data && (
        <div className="space-y-4 not-first:mt-4">
          <Field label={`Class at a time (${nameZone(timeZone)})`}>
            <Input
              type="datetime-local"
              className="w-56"
              value={chosen}
              onChange={({ target }) => choose(target.value)}
            />
          </Field>
          <p role="status" className="wrap-anywhere empty:hidden">
            {answer && (
              <>
                {answer.step && (
                  <>
                    <RiskBadge level={answer.riskLevel} />{' '}
                  </>
                )}
                {answer.because}
              </>
            )}
          </p>
          <ol
            aria-label="History of the class, latest first"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
            tabIndex={0}
            className="max-h-96 space-y-3 overflow-y-auto"
          >
            {data.steps
              .map((step, index) => (
                <HistoryEntry key={`${step.cause} ${step.at}`} step={step} before={data.steps[index - 1]} />
              ))
              .toReversed()}
          </ol>
          {!data.isComplete && <p className="text-faint text-xs">The latest {data.steps.length} steps are shown.</p>}
        </div>
      )}
    </Section>
  );
}
