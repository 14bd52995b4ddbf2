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
    const bounded = copy(data, limits, hide);
    if (countCharacters(bounded.data) <= MAX_RESULT_CHARACTERS) return bounded;
  }
  const text = hide(showInvisible(JSON.stringify(copy(data, STRICTER.at(-1)!, hide).data)));
  // Quoting can double it.
  return { data: markCut(text, MAX_RESULT_CHARACTERS / 3), cuts: 1 };
}

export const countCharacters = (data: unknown): number => JSON.stringify(data).length;

function copy(data: unknown, limits: Limits, hide: (text: string) => string): Bounded {
  let cuts = 0;
  const copyText = (raw: string, limit: number): string => {
    const text = showInvisible(hide(raw));
    if (text.length <= limit) return text;
    cuts++;
    return markCut(text, limit);
  };
  const copyValue = (value: unknown, depth: number): unknown => {
    if (typeof value === 'string') return copyText(value, limits.text);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > DEEPEST) {
      cuts++;
      return '[cut: nested too deeply]';
    }
    if (Array.isArray(value)) {
      const items = value.slice(0, limits.items).map((item) => copyValue(item, depth + 1));
      return value.length > limits.items ? [...items, markRest(value.length - limits.items)] : items;
    }
    const fields = Object.entries(value);
    const copied = fields
      .slice(0, limits.items + FIELDS_ALWAYS)
      .map(([name, field]) => [copyText(name, 100), copyValue(field, depth + 1)] as const);
    const left = fields.length - copied.length;
    return Object.fromEntries(left > 0 ? [...copied, ['[cut]', markRest(left)]] : copied);
  };
  const markRest = (left: number) => {
    cuts++;
    return `[cut: ${left} more]`;
  };
  return { data: copyValue(data, 0), cuts };
}

/** No object that the API defines has more fields, so only free-form ones are cut. */
const FIELDS_ALWAYS = 40;

function markCut(text: string, limit: number): string {
  const kept = cutText(text, limit);
  return `${kept}… [cut: ${text.length - kept.length} more characters]`;
}
