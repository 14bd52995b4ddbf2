import type { Provenance, WritingEvidence, WritingReason } from '../../../../../contract/writing';
import { showCount, writeShare } from '../../../components/count';
import { countOf, type Noun } from '../../../components/list-total';
import { showDuration } from '../../../components/time';

// What was seen of a text, in words. They say how it came about, not what somebody did.

export const PROVENANCE_WORDS: Record<Provenance, string> = {
  typed: 'typed',
  composed: 'dictated, or written with an input method or an on-screen keyboard',
  corrected: 'corrected or completed by the browser or a tool',
  pasted: 'pasted',
  dropped: 'dropped from elsewhere',
  inserted: 'there at once, without typing',
  autofilled: 'filled in by the browser',
  moved: 'moved within the page',
  restored: 'brought back by undo or by the page',
  unseen: 'there before, or not seen',
};

const DIGITS = 2;
const showNumber = (value: number) => String(Number(value.toPrecision(DIGITS)));
/** Shows a share from 0 to 1 as a percentage. */
export const showShare = (share: number) => writeShare(share, DIGITS);
const shareOf = (things: string) => (measured: number) => `${showShare(measured)} of ${things}`;

const REASONS = new Map<string, [name: string, describe: (measured: number) => string]>([
  ['text-inserted', ['Text that was there at once', shareOf('the new text')]],
  ['text-pasted', ['Text was pasted', shareOf('the new text')]],
  ['few-long-pauses', ['Few long pauses', shareOf('the time')]],
  ['even-pace', ['An even pace', (measured) => `a variation of ${showNumber(measured)}`]],
  ['few-revisions', ['Few deletions', shareOf('the typed text')]],
  ['linear-writing', ['Written from beginning to end', shareOf('the text')]],
]);

/** Names a reason. One of another tool is shown as it is. */
export const nameReason = ({ name }: WritingReason): string => REASONS.get(name)?.[0] ?? name;

/** Describes what a reason measured, with its unit if it is ours. */
export const describeReason = ({ name }: WritingReason, measured: number): string =>
  (REASONS.get(name)?.[1] ?? showNumber)(measured);

const CHARACTERS: Noun = ['character', 'characters'];
const showCharacters = (count: number) => countOf(count, CHARACTERS);

/** What else was measured: each a name and a value in words. Zero counts are left out. */
export function describeWriting(evidence: WritingEvidence): [name: string, value: string][] {
  const { pastes, pauses, bursts, revisions, caret, finalLength, durationMs, activeMs, charactersPerMinute } = evidence;
  const facts: [string, string | null][] = [
    ['At the end', showCharacters(finalLength)],
    ['Time', `${showDuration(durationMs)}, of it ${showDuration(activeMs)} without pauses`],
    ['Rate', charactersPerMinute === null ? null : `${showCharacters(charactersPerMinute)} a minute`],
    ['Pauses', pauses.count === 0 ? null : `${showCount(pauses.count)}, the longest ${showDuration(pauses.longestMs)}`],
    ['Between pauses', bursts.count === 0 ? null : `${showCharacters(bursts.mean)} on average`],
    [
      'Deletions',
      revisions.count === 0
        ? 'none'
        : `${showCount(revisions.count)}, ${showCharacters(revisions.deletedCharacters)} in all`,
    ],
    ['Written within the text', caret.known === 0 ? null : showCharacters(caret.middle)],
    ['Pastes', pastes.count === 0 ? null : `${showCount(pastes.count)}, the longest ${showCharacters(pastes.longest)}`],
  ];
  return facts.filter((fact): fact is [string, string] => fact[1] !== null);
}
