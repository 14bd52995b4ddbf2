import { expect, it } from 'vitest';
import {
  describeReason,
  describeWriting,
  nameReason,
  showShare,
} from '../../app/dashboard/[integrationId]/sessions/[sessionId]/writing-words';
import { WRITING_RULES } from '../../server/detection/writing-score';
import { writingEvidence } from '../support/facts';

const reasonOf = (name: string) => ({ name, state: 'found', measured: 0.5, expected: null, weight: 1 }) as const;

it('each reason of ours has a name and a unit', () => {
  for (const { name } of WRITING_RULES) {
    expect(nameReason(reasonOf(name))).not.toBe(name);
    expect(describeReason(reasonOf(name), 0.123)).toMatch(/^(12 % of \w+|a variation of 0.12)/);
  }
});

it('a reason of another tool is shown as it is', () => {
  expect([nameReason(reasonOf('constructor')), describeReason(reasonOf('constructor'), 0.123)]).toEqual([
    'constructor',
    '0.12',
  ]);
});

it('what was measured is said in words, and what there was none of is left out', () => {
  expect(describeWriting(writingEvidence())).toEqual([
    ['At the end', '940 characters'],
    ['Time', '10 min, of it 4 min without pauses'],
    ['Rate', '125 characters a minute'],
    ['Pauses', '9, the longest 1 min 30 s'],
    ['Between pauses', '50 characters on average'],
    ['Deletions', '12, 80 characters in all'],
    ['Written within the text', '30 characters'],
    ['Pastes', '1, the longest 500 characters'],
  ]);
  const none = writingEvidence({
    pastes: { count: 0, longest: 0 },
    pauses: { ...writingEvidence().pauses, count: 0 },
    bursts: { count: 0, mean: 0, longest: 0 },
    revisions: { count: 0, deletedCharacters: 0 },
    caret: { middle: 0, known: 0 },
    charactersPerMinute: null,
  });
  expect(describeWriting(none).map(([name]) => name)).toEqual(['At the end', 'Time', 'Deletions']);
  expect([0.0004, 0.056, 0.9949, 0.9975, 1].map(showShare)).toEqual(['0.04 %', '5.6 %', '99 %', '>99 %', '100 %']);
});

it('one character is one', () => {
  const one = writingEvidence({
    finalLength: 1,
    caret: { middle: 1, known: 9 },
    revisions: { ...writingEvidence().revisions, count: 1, deletedCharacters: 1 },
    pastes: { ...writingEvidence().pastes, count: 1, longest: 1 },
  });
  const words = new Map(describeWriting(one));
  expect(['At the end', 'Written within the text', 'Deletions', 'Pastes'].map((name) => words.get(name))).toEqual([
    ...['1 character', '1 character', '1, 1 character in all', '1, the longest 1 character'],
  ]);
});
