import { ELEMENT_ROLES } from '../../../../../contract/beacon';
import { type RecordedKey, type RecordedText, TEXT_LENGTHS } from '../../../../../contract/recorded-kinds';
import type { Recording } from '../../../../../contract/recordings';
import { showCount } from '../../../components/count';
import { showScore } from '../../../components/score-bar';
import { showDuration } from '../../../components/time';
import { showPath } from '../session-facts';
import { showOffset } from '../timeline';
import type { Mark, ScenePress } from './recording-reader';

const ROLE_WORDS: Partial<Record<(typeof ELEMENT_ROLES)[number], string>> = {
  other: 'an element',
  page: 'the page',
  input: 'an input',
  editable: 'an editable text',
  textarea: 'a text area',
  media: 'a picture',
  radio: 'a radio button',
};

/** Describes what was pressed or got the focus. */
export function describeRole(role: number): string {
  const name = ELEMENT_ROLES[role] ?? 'other';
  return ROLE_WORDS[name] ?? `a ${name}`;
}

const TEXT_WORDS: Record<RecordedText, string> = {
  paste: 'Text pasted',
  copy: 'Text copied',
  cut: 'Text cut',
  drop: 'Text dropped',
  insert: 'Text appeared at once',
};

/** Describes the length of a text by its class. */
export function describeLength(lengthClass: number): string {
  const most = TEXT_LENGTHS[lengthClass];
  if (most === undefined) return 'length unknown';
  if (Number.isFinite(most)) return `up to ${showCount(most)} characters`;
  return `over ${showCount(TEXT_LENGTHS[lengthClass - 1]!)} characters`;
}

export const KEY_WORDS: Record<RecordedKey, string> = {
  character: 'writes',
  erase: 'erases',
  navigate: 'Enter, Tab, arrows',
  modifier: 'Shift and the like',
  other: 'other',
};

const POINTER_WORDS = ['Pressed', 'Pen pressed', 'Touched'];
const STATE_WORDS = ['Page visible', 'Page hidden', 'Page left'];

function describePress({ pointer, role, heldMs, isByScript }: ScenePress): string {
  const what = `${isByScript ? 'A script pressed' : POINTER_WORDS[pointer]} ${describeRole(role)}`;
  return heldMs === null ? what : `${what}, held ${showDuration(heldMs)}`;
}

/** Describes something that happened. */
export function describeMark(mark: Mark): string {
  switch (mark.kind) {
    case 'page':
      return `Page ${mark.url === null ? 'not listed' : showPath(mark.url)}`;
    case 'focus':
      return `Focus on ${describeRole(mark.role)}`;
    case 'text':
      return `${TEXT_WORDS[mark.how]}, ${describeLength(mark.lengthClass)}`;
    case 'visibility':
      return STATE_WORDS[mark.state]!;
    case 'press':
      return describePress(mark.press);
  }
}

/** Describes how a part of the session looks by itself. */
export const describePart = ({ startMs, score }: Recording['segments'][number]): string =>
  `From ${showOffset(startMs)}: ${showScore(score)} of 100 by itself`;
