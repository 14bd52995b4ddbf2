import { writeCsvCell } from '../platform/csv';

// The ways in which names and ids are written: in addresses, HTML, JSON and CSV, with other signs, and in turned order.

/** How JSON writes a text between its quotes. */
export const writeInJson = (text: string) => JSON.stringify(text).slice(1, -1);

/** How CSV writes a text in the middle of a cell. */
const writeInCell = (text: string) => writeCsvCell(`x${text}`).replace(/^"?x/, '').replace(/"$/, '');

/**
 * The ways to write a name. An accent is a part of its letter or a separate character, and word processors and tablets replace `'` by
 * `’`. Ids that differ in this are those of two users.
 */
export function listSpellings(name: string): string[] {
  const plain = name.replaceAll('’', "'");
  const spellings = [name, plain, plain.replaceAll("'", '’')];
  return spellings.flatMap((text) => [text, text.normalize('NFC'), text.normalize('NFD')]);
}

/** The ways to write a name as `Last, First`: any word may begin the last name. */
export function listTurnedNames(name: string): string[] {
  const words = name.split(' ').filter((word) => word !== '');
  if (!IS_NAME.test(name) || name.includes(',') || words.length > MAX_WORDS) return [];
  return words
    .slice(1)
    .map((_, index) => `${words.slice(index + 1).join(' ')}, ${words.slice(0, index + 1).join(' ')}`);
}

/** The name of `Last, First`. */
export function listNamesInOrder(name: string): string[] {
  const [last, first, ...others] = name.split(',').map((part) => part.trim());
  return IS_NAME.test(name) && last && first && others.length === 0 ? [`${first} ${last}`] : [];
}

/** Letters of scripts with capitals, which tell a name from a word, and what stands between them in a name. */
const IS_NAME = /^[\p{Lu}\p{Ll}\p{M}'’., -]+$/u;
const MAX_WORDS = 5;

/** The ways to write a text in addresses, in JSON and in CSV. */
export function listForms(text: string): string[] {
  const wellFormed = text.toWellFormed();
  const encoded = encodeURIComponent(wellFormed);
  const query = new URLSearchParams({ '': wellFormed }).toString().slice(1);
  const ofLatin1 = encodeLatin1(wellFormed);
  const ofAddresses = [
    ...[encoded, ofLatin1, encodeURI(wellFormed)].flatMap((form) => [form, form.replaceAll('%20', '+')]),
    query,
  ]
    .flatMap((form) => [form, form.replaceAll("'", '%27'), form.replace(LEFT_SIGNS, escapeSign)])
    .flatMap(listNested);
  const json = writeInJson(text);
  const ascii = json.replace(NOT_ASCII, escapeUnit);
  // Python writes JSON in ASCII, and PHP also escapes its slashes.
  return [text, ...ofAddresses, json, ascii, ascii.replaceAll('/', '\\/'), writeInCell(text)];
}

/** How systems that know no Unicode write it in addresses. */
const encodeLatin1 = (text: string) =>
  encodeURIComponent(text).replace(OF_LATIN_1, (pair) => escapeSign(decodeURIComponent(pair)));
/** The characters U+0080 to U+00FF, as UTF-8 in an address. */
const OF_LATIN_1 = /%C[23]%[89AB][0-9A-F]/g;

/** The ways of PHP, Python and JavaScript to write a text in HTML: with letters of Unicode, or in ASCII. */
export function listHtmlForms(text: string): string[] {
  if (text !== text.normalize('NFC')) return [];
  const signs = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
  const letters = [nameLetter, writeDecimal, writeHex].map((write) => signs.replace(NOT_ASCII_LETTER, write));
  return [signs, ...letters].flatMap((form) => [form, ...APOSTROPHES.map((sign) => form.replaceAll("'", sign))]);
}

const NOT_ASCII_LETTER = /[^\0-\x7f]/gu;
const APOSTROPHES = ['&#39;', '&#039;', '&#x27;', '&apos;'];
const writeDecimal = (letter: string) => `&#${letter.codePointAt(0)};`;
const writeHex = (letter: string) => `&#x${letter.codePointAt(0)!.toString(16)};`;
/** As `&ouml;`, if it has such a name. */
function nameLetter(letter: string): string {
  const [base, ...marks] = letter.normalize('NFD');
  const mark = MARK_NAMES.get(marks.join(''));
  const name = LETTER_NAMES.get(letter) ?? (mark && base + mark);
  return name ? `&${name};` : letter;
}
const LETTER_NAMES = new Map(
  Object.entries({ ß: 'szlig', ø: 'oslash', Ø: 'Oslash', æ: 'aelig', Æ: 'AElig', '’': 'rsquo' }),
);
const MARK_NAMES = new Map(
  Object.entries({
    ...{ '\u0300': 'grave', '\u0301': 'acute', '\u0302': 'circ', '\u0303': 'tilde' },
    ...{ '\u0308': 'uml', '\u030a': 'ring', '\u0327': 'cedil', '\u030c': 'caron' },
  }),
);

/** What browsers leave in addresses, and Moodle, PHP and Python escape. */
const LEFT_SIGNS = /[!'()*]/g;
const escapeSign = (sign: string) => `%${sign.charCodeAt(0).toString(16)}`;
const NOT_ASCII = /[\u0080-\uffff]/g;
const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** The ways to write a part of an address in the query of another one, and that one in the query of a third. */
function listNested(form: string): string[] {
  if (!/[%+]/.test(form)) return [form];
  const once = encodeURIComponent(form.toWellFormed());
  return [form, once, encodeURIComponent(once)];
}

/** A database with the locale `C` knows the cases of a to z alone. */
export const listLetterCases = (form: string) =>
  /[^ -~]/.test(form) ? [form, form.toLowerCase(), form.toUpperCase()] : [form];
