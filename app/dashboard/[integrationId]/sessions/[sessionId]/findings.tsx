'use client';
import type { ReactNode } from 'react';
import type { Finding, SessionEvidence } from '../../../../../contract/evidence';
import { Badge } from '../../../components/badge';
import { Section } from '../../../components/page-header';
import { showScore } from '../../../components/score-bar';
import { ErrorState } from '../../../components/states';
import { describeError } from '../../../query-client';
import { describeFlag } from '../flag-words';
import { showOffset } from '../timeline';

const GROUP_WORDS: Record<Finding['group'], string> = {
  environment: 'Environment',
  integrity: 'Integrity',
  pointer: 'Pointer',
  typing: 'Typing',
  flow: 'Flow',
  network: 'Network',
  context: 'Context',
};
/** So many of the latest scores are shown. */
const MAX_SCORES = 6;

interface FindingsProps {
  query: { data: SessionEvidence | undefined; error: unknown; refetch(): unknown };
  /** When the session began: moments are shown since then. */
  startMs: number;
  isLive: boolean;
}

/** Why the session has its score: what was found, then what was not found or not measured, folded up. */
export function Findings({ query, startMs, isLive }: FindingsProps) {
  const { data: evidence, error } = query;
  if (error && !evidence)
    return (
      <Section title="Findings">
        <ErrorState message={describeError(error)} onRetry={() => void query.refetch()} />
      </Section>
    );
  // A score of a customer's own pipeline may bring no findings.
  if (!evidence || (evidence.findings.length === 0 && !isLive)) return null;
  const { findings, ruleSetVersion, scores } = evidence;
  const inState = (state: Finding['state']) => findings.filter((finding) => finding.state === state);
  const [found, notFound, notMeasured] = [inState('found'), inState('notFound'), inState('notMeasured')];
  const heaviest = Math.max(...findings.map(({ weight }) => weight), 0);
  const list = (some: Finding[]) => (
    <ul className="divide-y">
      {some.map((finding, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a pipeline may name a rule twice
        <FindingRow key={`${finding.flag} ${index}`} finding={finding} heaviest={heaviest} startMs={startMs} />
      ))}
    </ul>
  );
  return (
    <Section
      title="Findings"
      actions={ruleSetVersion && <span className="text-faint text-xs">Rules {ruleSetVersion}</span>}
    >
      <div className="space-y-3">
        {scores.length > 1 && <ScoreSteps scores={scores} startMs={startMs} />}
        {found.length > 0 ? (
          list(found)
        ) : (
          <p className="text-faint">{scores.length === 0 ? 'Nothing is scored yet.' : 'No rule found anything.'}</p>
        )}
        {notFound.length > 0 && <Folded title={`Not found: ${notFound.length}`}>{list(notFound)}</Folded>}
        {notMeasured.length > 0 && <Folded title={`Not measured: ${notMeasured.length}`}>{list(notMeasured)}</Folded>}
      </div>
    </Section>
  );
}

function Folded({ title, children }: { title: string; children: ReactNode }) {
  return (
    <details>
      <summary className="text-muted hover:text-ink">{title}</summary>
      <div className="mt-1 pl-4">{children}</div>
    </details>
  );
}

const writeMeasured = (measured: number | string) =>
  typeof measured === 'number' ? String(Number(measured.toPrecision(3))) : measured;

function FindingRow({ finding, heaviest, startMs }: { finding: Finding; heaviest: number; startMs: number }) {
  const { flag, group, state, measured, expected, weight, moments } = finding;
  const offsets = new Set(moments.map((moment) => showOffset(Date.parse(moment) - startMs)));
  const facts = [
    measured !== null && `measured ${writeMeasured(measured)}`,
    expected !== null && `expected ${expected}`,
    offsets.size > 0 && `at ${[...offsets].join(', ')}`,
  ].filter(Boolean);
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-0.5 py-1.5">
      <div className="min-w-0">
        <span className={state === 'found' ? 'font-medium' : 'text-muted'} title={flag}>
          {describeFlag(flag)}
        </span>{' '}
        <Badge>{GROUP_WORDS[group]}</Badge>
        {facts.length > 0 && <p className="break-words text-muted text-xs">{facts.join(' · ')}</p>}
      </div>
      {weight > 0 && (
        <span className="inline-flex items-center gap-2 text-muted text-xs" title="How much it counts in the score">
          weight {writeMeasured(weight)}
          <span className="h-1.5 w-16 overflow-hidden rounded bg-line" aria-hidden>
            <span
              className={`block h-full rounded ${state === 'found' ? 'bg-bot-fill' : 'bg-neutral-fill'}`}
              style={{ width: `${(weight / heaviest) * 100}%` }}
            />
          </span>
        </span>
      )}
    </li>
  );
}

/** How the score came about: the latest scores and when they were given. */
function ScoreSteps({ scores, startMs }: { scores: SessionEvidence['scores']; startMs: number }) {
  const shown = scores.slice(-MAX_SCORES);
  return (
    <p className="text-muted text-xs">
      {scores.length > shown.length ? `The last ${shown.length} of ${scores.length} scores: ` : 'Scores: '}
      {shown
        .map(({ scoredAt, botScore }) => `${showScore(botScore)} at ${showOffset(Date.parse(scoredAt) - startMs)}`)
        .join(' → ')}
    </p>
  );
}
