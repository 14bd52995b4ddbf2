'use client';
import type { Finding, SessionEvidence } from '../../../../../contract/evidence';
import { STATE_WORDS } from '../../../components/finding-mark';
import { Section } from '../../../components/page-header';
import { showScore } from '../../../components/score-bar';
import { ErrorState } from '../../../components/states';
import { describeError } from '../../../query-client';
import { showOffset } from '../timeline';
import { FindingRow, type MomentChoice } from './finding-row';
import type { Scoring } from './score-sum';
import { ScoreSumBar } from './score-sum-bar';
import { addMissingRules, type Circumstances, explainUnmeasured, findRuleFlag } from './unmeasured-words';

/** So many of the latest scores are shown. */
const MAX_SCORES = 6;

/** Rules in plain words, by their names. */
export type Explanations = readonly (readonly [flag: string, words: string])[];

interface FindingsProps extends MomentChoice, Circumstances {
  query: { data: SessionEvidence | undefined; error: unknown; refetch(): unknown };
  scoring: Scoring;
  /** When the session began: moments are shown since then. */
  startMs: number;
}

/** Why the session has its score: what was found and how it adds up, then what was not found or not measured, folded up. */
export function Findings({ query, scoring, startMs, details, isLive, ...choice }: FindingsProps) {
  const { data: evidence, error } = query;
  if (error && !evidence)
    return (
      <Section title="Findings">
        <ErrorState message={describeError(error)} onRetry={() => void query.refetch()} />
      </Section>
    );
  if (!evidence) return null;
  const { botScore, findings, ruleSetVersion, scores } = evidence;
  if (findings.length === 0)
    return (
      <Section title="Findings">
        <p className="text-muted">
          {scores.length === 0
            ? 'Nothing is scored yet.'
            : 'No findings are stored with this score: a pipeline gave it without them, or it was given before findings were stored.'}
        </p>
      </Section>
    );
  const all = addMissingRules(findings, ruleSetVersion, scoring);
  const inState = (state: Finding['state']) => all.filter(({ finding }) => finding.state === state);
  const found = inState('found');
  const heaviest = Math.max(...findings.map(({ weight }) => weight), 0);
  const rules = new Map(scoring.rules.map((rule) => [rule.flag, rule]));
  const list = (some: typeof all, label: string) => (
    <ul className="divide-y" aria-label={label}>
      {some.map(({ finding, why }, index) => {
        const rule = rules.get(findRuleFlag(finding.flag));
        const isMeasured = finding.state !== 'notMeasured';
        return (
          <FindingRow
            // biome-ignore lint/suspicious/noArrayIndexKey: a pipeline may name a rule twice
            key={`${finding.flag} ${index}`}
            finding={finding}
            explanation={rule?.plainly}
            isProof={rule?.isProof ?? false}
            why={isMeasured ? null : (why ?? explainUnmeasured(finding.flag, rule?.needs, { details, isLive }))}
            {...{ heaviest, startMs, ...choice }}
          />
        );
      })}
    </ul>
  );
  return (
    <Section
      title="Findings"
      actions={ruleSetVersion && <span className="wrap-anywhere text-faint text-xs">Rules {ruleSetVersion}</span>}
    >
      <div className="space-y-3">
        {scores.length > 1 && <ScoreSteps scores={scores} startMs={startMs} />}
        {botScore !== null && <ScoreSumBar {...{ botScore, ruleSetVersion, findings, scoring }} />}
        {found.length > 0 ? list(found, STATE_WORDS.found) : <p className="text-faint">No rule found anything.</p>}
        {(['notFound', 'notMeasured'] as const).map((state) => {
          const some = inState(state);
          if (some.length === 0) return null;
          return (
            <details key={state}>
              <summary className="text-muted hover:text-ink">{`${STATE_WORDS[state]}: ${some.length}`}</summary>
              <div className="mt-1 pl-4">{list(some, STATE_WORDS[state])}</div>
            </details>
          );
        })}
      </div>
    </Section>
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

/** Lists when something was found, in milliseconds since the start of the session. Evidence that never counts is left out. */
export const listFoundMoments = (findings: readonly Finding[], startMs: number): number[] => [
  ...new Set(
    findings
      .filter(({ state, group }) => state === 'found' && group !== 'context')
      .flatMap(({ moments }) => moments.map((moment) => Date.parse(moment) - startMs)),
  ),
];
