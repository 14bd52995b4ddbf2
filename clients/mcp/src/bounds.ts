import { cutText, showInvisible } from './texts.js';

/** Of the JSON of a result. About 10,000 tokens. */
export const MAX_RESULT_CHARACTERS = 30_000;

export interface Bounded {
  data: unknown;
  /** How many texts and lists were cut. */
  cuts: number;
}

interface Limits {
  /** Characters of a text. */
  text: number;
  /** Items of a list, and fields of an object. */
  items: number;
}

/** The API permits 16 levels in free-form parts. */
const DEEPEST = 24;
const UNLIMITED: Limits = { text: 4_000, items: Number.POSITIVE_INFINITY };
/** Tried one after the other until the result is short enough. */
const STRICTER: Limits[] = [
  { text: 4_000, items: 200 },
  { text: 2_000, items: 60 },
  { text: 1_000, items: 20 },
  { text: 300, items: 8 },
  { text: 100, items: 3 },
];

/** Returns a copy without invisible characters in which no text is over 4,000 characters. `hide` replaces what must not be shown. */
export function boundTexts(data: unknown, hide: (text: string) => string): Bounded {
  return copy(data, UNLIMITED, hide);
}

/** Returns a copy whose JSON has at most MAX_RESULT_CHARACTERS. What was cut says so where it was cut. */
export function boundResult(data: unknown, hide: (text: string) => string): Bounded {
  for (const limits of [UNLIMITED, ...STRICTER]) {
    const bounded = copy(data, limits, hide, MAX_RESULT_CHARACTERS);
    if (bounded.isWhole && countCharacters(bounded.data) <= MAX_RESULT_CHARACTERS) return bounded;
  }
  const text = hide(showInvisible(JSON.stringify(copy(data, STRICTER.at(-1)!, hide, MAX_RESULT_CHARACTERS).data)));
  // Quoting can double it.
  return { data: `${cutText(text, MAX_RESULT_CHARACTERS / 3)}… [cut: the rest]`, cuts: 1 };
}

export const countCharacters = (data: unknown): number => JSON.stringify(data).length;

/**
 * Copies until the JSON of the copy has more characters than there is room for: nobody needs the rest of what is too long, and megabytes
 * take seconds, in which the server answers nothing.
 */
function copy(
  data: unknown,
  limits: Limits,
  hide: (text: string) => string,
  room = Number.POSITIVE_INFINITY,
): Bounded & { isWhole: boolean } {
  let cuts = 0;
  /** At most what is left of the room. */
  let left = room;
  const copyText = (raw: string, limit: number): string => {
    const text = showInvisible(hide(raw));
    left -= Math.min(text.length, limit);
    if (text.length <= limit) return text;
    cuts++;
    return markCut(text, limit);
  };
  const copyValue = (value: unknown, depth: number): unknown => {
    left--;
    if (typeof value === 'string') return copyText(value, limits.text);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > DEEPEST) {
      cuts++;
      return '[cut: nested too deeply]';
    }
    if (Array.isArray(value)) {
      const items = copyWhileRoom(value.slice(0, limits.items), (item) => copyValue(item, depth + 1));
      return value.length > limits.items ? [...items, markRest(value.length - limits.items)] : items;
    }
    const fields = Object.entries(value);
    const shown = fields.slice(0, limits.items + FIELDS_ALWAYS);
    const copied = copyWhileRoom(shown, ([name, field]) => [copyText(name, 100), copyValue(field, depth + 1)] as const);
    const rest = fields.length - shown.length;
    return Object.fromEntries(rest > 0 ? [...copied, ['[cut]', markRest(rest)]] : copied);
  };
  const copyWhileRoom = <From, To>(parts: From[], copyPart: (part: From) => To): To[] => {
    const copied: To[] = [];
    for (const part of parts) {
      if (left < 0) break;
      copied.push(copyPart(part));
    }
    return copied;
  };
  const markRest = (count: number) => {
    cuts++;
    return `[cut: ${count} more]`;
  };
  const copied = copyValue(data, 0);
  return { data: copied, cuts, isWhole: left >= 0 };
}

/** No object that the API defines has more fields, so only free-form ones are cut. */
const FIELDS_ALWAYS = 40;

function markCut(text: string, limit: number): string {
  const kept = cutText(text, limit);
  return `${kept}… [cut: ${text.length - kept.length} more characters]`;
}
