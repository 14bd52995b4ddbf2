'use client';
import { useQuery } from '@tanstack/react-query';
import type { Provenance, WritingEvidence, WritingReason, WritingSession } from '../../../../../contract/writing';
import { joinClasses } from '../../../components/classes';
import { showCount } from '../../../components/count';
import { chooseFindingColor, FindingMark, STATE_WORDS } from '../../../components/finding-mark';
import { Section } from '../../../components/page-header';
import { ScoreBar } from '../../../components/score-bar';
import { ErrorState } from '../../../components/states';
import { useTRPC } from '../../../queries';
import { describeError } from '../../../query-client';
import type { Explanations } from './findings';
import { describeReason, describeWriting, nameReason, PROVENANCE_WORDS, showShare } from './writing-words';

const COLOURS: Record<Provenance, string> = {
  typed: 'var(--color-type-keyboard)',
  composed: 'var(--color-type-touch)',
  corrected: 'var(--color-type-navigation)',
  pasted: 'var(--color-type-clipboard)',
  dropped: 'var(--color-type-form)',
  inserted: 'var(--color-bot-fill)',
  autofilled: 'var(--color-type-scroll)',
  moved: 'var(--color-type-mouse)',
  restored: 'var(--color-type-visibility)',
  unseen: 'var(--color-neutral-fill)',
};

const SOURCES = Object.keys(PROVENANCE_WORDS) as Provenance[];

/** How the texts of a session came about, and the score of each with its reasons. Nothing if none was written. */
export function WritingSessions({ sessionId, explanations }: { sessionId: string; explanations: Explanations }) {
  const trpc = useTRPC();
  const query = useQuery(trpc.writing.list.queryOptions({ browsingSessionId: sessionId }));
  const texts = query.data?.data;
  if (query.error && !texts)
    return (
      <Section title="Writing">
        <ErrorState message={describeError(query.error)} onRetry={() => void query.refetch()} />
      </Section>
    );
  if (!texts || texts.length === 0) return null;
  const words = new Map(explanations);
  return (
    <Section title="Writing">
      <ul className="divide-y" aria-label="Texts">
        {texts.map((text) => (
          <Text key={text.id} text={text} words={words} />
        ))}
      </ul>
      <p className="mt-3 text-faint text-xs">
        The score says how a text came about, not who wrote it or what it says. Somebody who copies their own draft from
        paper looks like somebody who copies another text.
      </p>
    </Section>
  );
}

function Text({ text, words }: { text: WritingSession; words: ReadonlyMap<string, string> }) {
  const { documentId, aiScore, wordCount, evidence } = text;
  return (
    <li className="space-y-3 py-3 first:pt-0">
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
        <h3 className="wrap-anywhere font-medium">
          {documentId ?? 'A text without a name'}
          {wordCount !== null && <span className="font-normal text-muted"> · about {showCount(wordCount)} words</span>}
        </h3>
        <span className="inline-flex items-center gap-2 text-muted text-xs">
          AI-content score <ScoreBar score={aiScore} level={null} />
        </span>
      </div>
      {evidence && (
        <>
          <Sources characters={evidence.characters} />
          <dl className="flex flex-wrap items-baseline gap-x-6 gap-y-1 text-xs">
            {describeWriting(evidence).map(([name, value]) => (
              <Fact key={name} name={name} value={value} />
            ))}
          </dl>
          <Reasons reasons={evidence.reasons} words={words} />
        </>
      )}
    </li>
  );
}

/** A bar of where the characters came from, and the same in words and numbers. */
function Sources({ characters }: { characters: WritingEvidence['characters'] }) {
  // In a fixed order: the database keeps none.
  const some = SOURCES.map((name) => [name, characters[name]] as const).filter(([, count]) => count > 0);
  const total = some.reduce((sum, [, count]) => sum + count, 0);
  return (
    <div className="space-y-2">
      <div className="flex h-3 gap-px overflow-hidden rounded bg-line" aria-hidden>
        {some.map(([name, count]) => (
          <div key={name} style={{ width: `${(count / total) * 100}%`, background: COLOURS[name] }} />
        ))}
      </div>
      <ul className="flex flex-wrap gap-x-4 gap-y-1 text-muted text-xs" aria-label="Where the characters came from">
        {some.map(([name, count]) => (
          <li key={name} className="flex items-baseline gap-1.5">
            <span className="size-2.5 shrink-0 rounded-[2px]" style={{ background: COLOURS[name] }} aria-hidden />
            <span>
              {showShare(count / total)} {PROVENANCE_WORDS[name]} ({showCount(count)})
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** What was found, then what was not found or not measured, folded up. */
function Reasons({ reasons, words }: { reasons: WritingReason[]; words: ReadonlyMap<string, string> }) {
  const found = reasons.filter(({ state }) => state === 'found');
  const others = reasons.filter(({ state }) => state !== 'found');
  const list = (some: WritingReason[], label: string) => (
    <ul aria-label={label}>
      {some.map((reason) => (
        <Reason key={reason.name} reason={reason} explanation={words.get(reason.name)} />
      ))}
    </ul>
  );
  return (
    <>
      {found.length > 0 ? list(found, 'Reasons') : <p className="text-faint">Nothing was found.</p>}
      {others.length > 0 && (
        <details>
          <summary className="text-muted hover:text-ink">Not found, or not measured: {others.length}</summary>
          <div className="mt-1 pl-4">{list(others, 'Not found, or not measured')}</div>
        </details>
      )}
    </>
  );
}

function Reason({ reason, explanation }: { reason: WritingReason; explanation: string | undefined }) {
  const { state, measured, expected, weight } = reason;
  const isFound = state === 'found';
  // A reason that does not count accuses nobody, so it has no colour.
  const color = isFound && weight === 0 ? 'text-faint' : chooseFindingColor({ group: 'typing', state });
  return (
    <li className="flex gap-3 py-1.5">
      <FindingMark state={state} className={joinClasses('mt-1.5', color)} />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center justify-between gap-x-4">
          <span className={isFound ? 'font-medium' : 'text-muted'}>
            {nameReason(reason)} <span className="sr-only">{STATE_WORDS[state]}</span>
          </span>
          {isFound && (
            <span className="text-muted text-xs" title="How much it counts in the score">
              {weight === 0 ? 'does not count' : `weight ${Number(weight.toPrecision(3))}`}
            </span>
          )}
        </p>
        {isFound && explanation && <p className="text-muted">{explanation}</p>}
        {measured !== null && (
          <dl className="flex flex-wrap items-baseline gap-x-6 gap-y-1 text-xs">
            <Fact name="Measured" value={describeReason(reason, measured)} />
            {expected !== null && <Fact name="Usual" value={expected} />}
          </dl>
        )}
      </div>
    </li>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div className="flex min-w-0 items-baseline gap-1.5">
      <dt className="shrink-0 text-faint">{name}</dt>
      <dd className="wrap-anywhere min-w-0">{value}</dd>
    </div>
  );
}
