import type { SessionEvent } from '../../../../../contract/session-events';
import { showCount } from '../../../components/count';
import { showDuration } from '../../../components/duration';

/** A value of an event's metadata: what it is called, and the value with its unit. */
export interface MetadataFact {
  key: string;
  name: string;
  text: string;
  /** Whether the text is JSON. */
  isNested: boolean;
}

const MAX_FACTS = 50;
const MAX_TEXT_LENGTH = 4_000;

const ONE_MINUTE_MS = 60_000;
const ONE_DIGIT = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });
const BYTE_UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'];

/** Writes milliseconds: `850 ms`, `1.2 s`, `4 min 10 s`. */
export function showMilliseconds(ms: number): string {
  if (Math.abs(ms) < 1_000) return `${ONE_DIGIT.format(ms)} ms`;
  return ms > 0 && ms >= ONE_MINUTE_MS ? showDuration(ms) : `${ONE_DIGIT.format(ms / 1_000)} s`;
}

function showBytes(bytes: number): string {
  const unit = Math.min(BYTE_UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return `${ONE_DIGIT.format(bytes / 1_000 ** unit)} ${BYTE_UNITS[unit]}`;
}

const plural = (things: string) => (value: number) => `${showCount(value)} ${things}${value === 1 ? '' : 's'}`;

/** Units by the last word of a key: `delayMs`, `delay_ms`, `payloadBytes`, `distancePx`, `clickCount`. */
const UNITS: [lastWord: RegExp, show: (value: number) => string][] = [
  [/(?:^|_)(?:ms|millis|milliseconds)$|[a-z\d](?:Ms|Millis|Milliseconds)$/, showMilliseconds],
  [/(?:^|_)bytes$|[a-z\d]Bytes$/, showBytes],
  [/(?:^|_)(?:px|pixels)$|[a-z\d](?:Px|Pixels)$/, (value) => `${ONE_DIGIT.format(value)} px`],
  [/(?:^|_)count$|[a-z\d]Count$/, showCount],
];

interface KnownKey {
  name: string;
  show(value: unknown): string | null;
}
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const wordOf = (words: Record<string, string>) => (value: unknown) =>
  typeof value === 'string' && Object.hasOwn(words, value) ? words[value]! : null;

const CLIPBOARD = { paste: 'pasted', copy: 'copied', cut: 'cut', drop: 'dropped' };
const CAUSES = {
  load: 'a page was opened',
  history: 'the address changed within the page',
  restored: 'the browser brought the page back',
  activated: 'a page that was prepared in advance was shown',
};

/** What the pixel writes. A pipeline of the customer's may use the same names for something else, which is then shown as it is. */
const KNOWN = new Map<string, KnownKey>([
  ['kind', { name: 'Clipboard', show: wordOf(CLIPBOARD) }],
  ['length', { name: 'Length', show: (value) => (isNumber(value) ? plural('character')(value) : null) }],
  ['state', { name: 'The page was', show: wordOf({ visible: 'visible', hidden: 'hidden' }) }],
  ['cause', { name: 'Cause', show: wordOf(CAUSES) }],
  ['signedIn', { name: 'Signed in', show: (value) => (value === false ? 'nobody, by the page' : null) }],
  [
    'trusted',
    {
      name: 'Made by',
      show: (value) => (value === false ? 'a script of the page' : value === true ? 'the browser' : null),
    },
  ],
]);

const cutText = (text: string) =>
  text.length <= MAX_TEXT_LENGTH ? text : `${text.slice(0, MAX_TEXT_LENGTH)} … (${showCount(text.length)} characters)`;

function showValue(key: string, value: unknown): string {
  if (isNumber(value)) return (UNITS.find(([lastWord]) => lastWord.test(key))?.[1] ?? String)(value);
  if (typeof value === 'string') return cutText(value);
  return cutText(typeof value === 'object' && value !== null ? JSON.stringify(value, null, 2) : String(value));
}

/** Lists the metadata of an event with units. Unknown keys are shown as they are, and nested values as JSON, up to a bound. */
export function listEventMetadata(metadata: Record<string, unknown>): { facts: MetadataFact[]; left: number } {
  const entries = Object.entries(metadata);
  const facts = entries.slice(0, MAX_FACTS).map(([key, value]): MetadataFact => {
    const known = KNOWN.get(key);
    const words = known?.show(value) ?? null;
    const isNested = typeof value === 'object' && value !== null;
    return { key, name: words === null ? key : known!.name, text: words ?? showValue(key, value), isNested };
  });
  return { facts, left: entries.length - facts.length };
}

/** Says in a few words what happened, as far as the metadata of the pixel tells. */
export function summariseEvent({ type, metadata }: Pick<SessionEvent, 'type' | 'metadata'>): string {
  const words = (key: string) => KNOWN.get(key)!.show(metadata?.[key]);
  switch (type) {
    case 'clipboard':
      return [words('kind'), words('length')].filter(Boolean).join(', ');
    case 'visibility':
      return words('state') ?? '';
    case 'navigation':
      return words('cause') ?? '';
    default:
      return '';
  }
}
