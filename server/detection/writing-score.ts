import { NEW_TEXT, type WritingEvidence, type WritingReason } from '../../contract/writing';
import type { TraceBatch } from './trace';
import { measureUnevenness } from './writing-pace';
import { measureWriting } from './writing-sessions';
import type { WritingMeasures } from './writing-text';

// The score of a text: how much the way in which it came about differs from composing at a keyboard. docs/writing.md has the
// formula, its basis and its limits.

/** Changes whenever a score could change. */
export const WRITING_FORMULA_VERSION = '2026.2';

export interface WritingScore {
  /** Tells the texts of a session apart. */
  key: string;
  /** Null for a text without one. */
  documentId: string | null;
  aiScore: number;
  wordCount: number | null;
  evidence: WritingEvidence;
}

/** The log odds of a text of which nothing is found: a score of 0.1. */
export const WRITING_BASE = -2.2;
/** A text with fewer new characters, about 50 words, gets no score. */
export const MIN_NEW_CHARACTERS = 300;
/** The essays that the limits of copy-typing rest on are longer than about so much. */
const MIN_TYPED_CHARACTERS = 1_000;
const MIN_TYPED_SHARE = 0.5;
/** With more slow keys than this, the pace is that of a device. */
const MAX_SLOW_SHARE = 0.5;
const MIN_CARET_SHARE = 0.9;

/** What a reason measures: null where nobody can tell, and the part of the text that it is about. */
interface Measure {
  measured: number | null;
  share: number;
}

export interface WritingRule {
  name: string;
  /** In the words of the dashboard and the documents. */
  plainly: string;
  expected: string;
  weight: number;
  /** Those of a group count only if all of them are found. */
  group: 'source' | 'copying';
  measure(text: WritingMeasures): Measure;
  isFound(measured: number): boolean;
}

export const countNew = ({ characters }: WritingMeasures): number =>
  NEW_TEXT.reduce((total, name) => total + characters[name], 0);

const shareOf = (text: WritingMeasures, part: number): number => (part === 0 ? 0 : part / countNew(text));

/** A reason that is about the text from one source: its share is measured, and counts. */
const bySource = (find: (characters: WritingMeasures['characters']) => number) => (text: WritingMeasures) => {
  const share = shareOf(text, find(text.characters));
  return { measured: share, share };
};

/** A reason that is about typing: null unless enough was typed by hand and nothing is missing. */
const byTyping = (find: (text: WritingMeasures) => number | null) => (text: WritingMeasures) => {
  const { characters, keys, caret, hasGaps } = text;
  const share = shareOf(text, characters.typed);
  const isEnough = characters.typed >= MIN_TYPED_CHARACTERS && share >= MIN_TYPED_SHARE;
  const isSlow = keys.slow > keys.intervals * MAX_SLOW_SHARE;
  const isSeen = !hasGaps && caret.known >= characters.typed * MIN_CARET_SHARE;
  return { measured: isEnough && !isSlow && isSeen ? find(text) : null, share };
};

export const WRITING_RULES: readonly WritingRule[] = [
  {
    name: 'text-inserted',
    plainly:
      'Text was there at once, and no typing, pasting or dictation was seen before it. Scripts and extensions write so.',
    expected: 'below 10 % of the new text',
    ...{ weight: 5, group: 'source' },
    measure: bySource(({ inserted }) => inserted),
    isFound: (measured) => measured >= 0.1,
  },
  {
    name: 'text-pasted',
    plainly: 'Text was pasted or dropped that was not seen to come from this page. Own notes come so too.',
    expected: 'below 20 % of the new text',
    ...{ weight: 2, group: 'source' },
    measure: bySource(({ pasted, dropped }) => pasted + dropped),
    isFound: (measured) => measured >= 0.2,
  },
  {
    name: 'few-long-pauses',
    plainly: 'Little time passed in pauses of 2 s and more. People who compose a text pause to think.',
    expected: '40 % of the time or more',
    ...{ weight: 0.65, group: 'copying' },
    measure: byTyping(({ pauses, durationMs }) => (durationMs > 0 ? pauses.totalMs / durationMs : null)),
    isFound: (measured) => measured < 0.4,
  },
  {
    name: 'even-pace',
    plainly: 'The text grew at an even pace from beginning to end. Composing goes by fits and starts.',
    expected: 'a variation of 0.3 or more',
    ...{ weight: 0.65, group: 'copying' },
    measure: byTyping(({ pace, durationMs }) => measureUnevenness(pace, durationMs)),
    isFound: (measured) => measured < 0.3,
  },
  {
    name: 'few-revisions',
    plainly: 'Little of what was typed was deleted again. People who compose a text change their mind.',
    expected: '6 % of the typed text or more',
    ...{ weight: 0.65, group: 'copying' },
    measure: byTyping(({ revisions, characters }) => revisions.deletedCharacters / characters.typed),
    isFound: (measured) => measured < 0.06,
  },
  {
    name: 'linear-writing',
    plainly: 'Nearly all of it was written at the end of the text. People who compose a text go back into it.',
    expected: '0.5 % of the text or more with text after it',
    ...{ weight: 0.65, group: 'copying' },
    measure: byTyping(({ caret }) => caret.middle / caret.known),
    isFound: (measured) => measured < 0.005,
  },
];

/** Scores the texts of a browsing session, those that are long enough. The same batches give the same bytes. */
export const scoreWriting = (batches: readonly TraceBatch[]): WritingScore[] =>
  measureWriting(batches)
    .filter((text) => countNew(text) >= MIN_NEW_CHARACTERS)
    .map(scoreText);

/** Scores one text. */
export function scoreText(text: WritingMeasures): WritingScore {
  const judged = WRITING_RULES.map((rule) => {
    const { measured, share } = rule.measure(text);
    return { rule, measured, share, isFound: measured !== null && rule.isFound(measured) };
  });
  const isCopied = judged.every(({ rule, isFound }) => rule.group !== 'copying' || isFound);
  const reasons = judged.map(({ rule, measured, share, isFound }): WritingReason => {
    const counts = isFound && (rule.group === 'source' || isCopied);
    return {
      name: rule.name,
      state: measured === null ? 'notMeasured' : isFound ? 'found' : 'notFound',
      measured: measured === null ? null : round(measured),
      expected: rule.expected,
      weight: counts ? round(rule.weight * share) : 0,
    };
  });
  const logOdds = reasons.reduce((sum, { weight }) => sum + weight, WRITING_BASE);
  return {
    key: text.key,
    documentId: text.documentId,
    aiScore: round(1 / (1 + Math.exp(-logOdds))),
    wordCount: estimateWords(text),
    evidence: showEvidence(text, reasons),
  };
}

const STATES = ['found', 'notFound', 'notMeasured'];

function showEvidence(text: WritingMeasures, reasons: WritingReason[]): WritingEvidence {
  const { characters, finalLength, durationMs, activeMs, pastes, pauses, bursts, revisions, caret } = text;
  const written = characters.typed + characters.composed;
  return {
    formulaVersion: WRITING_FORMULA_VERSION,
    reasons: reasons.sort((a, b) => b.weight - a.weight || STATES.indexOf(a.state) - STATES.indexOf(b.state)),
    ...{ characters, finalLength, durationMs: Math.round(durationMs), activeMs: Math.round(activeMs) },
    charactersPerMinute: activeMs > 0 ? Math.round((written / activeMs) * 60_000) : null,
    pastes,
    pauses: { ...pauses, totalMs: Math.round(pauses.totalMs), longestMs: Math.round(pauses.longestMs) },
    bursts: {
      count: bursts.count,
      mean: bursts.count > 0 ? Math.round(bursts.total / bursts.count) : 0,
      longest: bursts.longest,
    },
    revisions,
    caret,
  };
}

/** With fewer keys, how long the words are is not known. */
const MIN_WORD_KEYS = 100;
const MAX_WORD_COUNT = 2_147_483_647;

/**
 * Estimates the words of a text by its length and by how many of its typed characters ended a word. Null where too little was
 * typed, or by an input method: many scripts have no spaces.
 */
function estimateWords({ keys, finalLength, characters }: WritingMeasures): number | null {
  if (keys.count < MIN_WORD_KEYS || characters.composed > characters.typed || keys.wordEnds === 0) return null;
  return Math.min(Math.round((finalLength * keys.wordEnds) / keys.count), MAX_WORD_COUNT);
}

const round = (value: number): number => Math.round(value * 1_000) / 1_000;
