/**
 * What an attempt keeps of the receiver's answer, for staff: its headers and the first bytes of its body. Keeping them never waits
 * for anything, so the outcome of an attempt does not depend on it. Values that may be secrets are replaced before anything is stored.
 */

/** How much of a body is kept. */
export const MAX_KEPT_BYTES = 2_048;
const MAX_HEADERS = 40;
const MAX_NAME_LENGTH = 64;
const MAX_VALUE_LENGTH = 256;
const REDACTED = '[redacted]';
/** Names the headers that were left out. No header can have it. */
const MORE = '…';

export interface KeptAnswer {
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Buffer;
  /** Whether the body was longer. */
  isCut: boolean;
}

/** Takes what arrives of an answer. */
export interface AnswerKeeper {
  /** Takes the headers. Those of the last call count, because informational answers come before the final one. */
  takeHeaders(headers: Record<string, string | string[] | undefined>): void;
  takeData(chunk: Buffer): void;
  /** Returns what arrived; null if there were no headers. */
  read(): KeptAnswer | null;
}

export function createAnswerKeeper(): AnswerKeeper {
  let headers: Record<string, string | string[] | undefined> | null = null;
  let chunks: Buffer[] = [];
  let length = 0;
  let isCut = false;
  return {
    takeHeaders(given) {
      headers = given;
      chunks = [];
      length = 0;
    },
    takeData(chunk) {
      const room = MAX_KEPT_BYTES - length;
      if (chunk.length > room) isCut = true;
      if (room <= 0) return;
      // A copy, because a part of a chunk would hold all of its memory.
      const kept = Buffer.from(chunk.subarray(0, room));
      chunks.push(kept);
      length += kept.length;
    },
    read: () => headers && { headers: redactHeaders(headers), body: redactBody(Buffer.concat(chunks)), isCut },
  };
}

/** Headers whose names say that they are, or ask for, credentials. */
const SECRET_HEADER =
  /^(set-)?cookie2?$|^proxy-|auth|token|secret|signature|passw|credential|api-?key|session|csrf|xsrf|jwt/i;
/** Parameters of addresses and forms, and members of JSON, that are credentials. */
const SECRET_FIELD = /token|secret|passw|api[_-]?key|credential|^sha256$/i;
/** What our own secrets begin with. */
const OUR_PREFIXES = ['whsec_', 'idsec_', 'aik_v1_'];
/** What stands before a credential, perhaps at the end of a word: `[Bearer`. */
const SCHEMES = ['bearer', 'basic'];
/** The beginning of a JSON Web Token, and how long one is at least. */
const [TOKEN_START, MIN_TOKEN_LENGTH] = ['eyJ', 20];

/** Quotes, also as pages of errors write them. */
const QUOTES = ['"', "'", '&quot;', '&#34;', '&apos;', '&#39;', '&#039;', '&#x27;'];

/** Redacts what looks like a credential, in linear time. */
const redactText = (text: string): string => redactWords(QUOTES.reduce(redactQuoted, text));

/**
 * Redacts values in quotes that follow a name and a colon, or an equals sign: those of JSON, and those that programs print. JSON within a
 * string of JSON has a backslash before each of its quotes. A quote with another one, before which the backslashes of the value do not come
 * in pairs, is part of the value; so is a doubled one, as in SQL. JSON doubles the backslash before an apostrophe, so each one counts there.
 */
function redactQuoted(text: string, quote: string): string {
  const parts = text.split(quote);
  const kept = parts.slice(0, 1);
  for (let at = 1; at < parts.length; at++) {
    const depth = countBackslashes(parts[at - 1]!);
    const name = readName(parts[at - 1]!.slice(0, parts[at - 1]!.length - depth).trim(), parts[at - 2] ?? '');
    if (name.length > MAX_NAME_LENGTH || !SECRET_FIELD.test(name)) {
      kept.push(parts[at]!);
      continue;
    }
    const isApostrophe = quote === "'";
    for (; at + 1 < parts.length; at++) {
      const isDoubled = parts[at + 1] === '' && at + 2 < parts.length;
      if (isDoubled) at++;
      else if (!isQuoteEscaped(countBackslashes(parts[at]!), depth, isApostrophe)) break;
    }
    kept.push(REDACTED + '\\'.repeat(depth));
  }
  return kept.join(quote);
}

/** Reads the name of a value from what stands before its quote: the last word, or what was in quotes itself. Empty if there is none. */
function readName(before: string, quoted: string): string {
  const sign = ['=>', '=&gt;', ':', '='].find((one) => before.endsWith(one));
  if (!sign) return '';
  const rest = before.slice(0, -sign.length).trimEnd();
  return rest === ''
    ? quoted
    : (rest
        .slice(-MAX_NAME_LENGTH)
        .match(/[^\s&?;,{(<>"'\\]+/g)
        ?.at(-1) ?? '');
}

const isQuoteEscaped = (backslashes: number, depth: number, isApostrophe: boolean): boolean =>
  backslashes > depth && (isApostrophe || (backslashes - depth) % (2 * (depth + 1)) !== 0);

function countBackslashes(part: string): number {
  let count = 0;
  while (count < part.length && part.at(-1 - count) === '\\') count++;
  return count;
}

function redactWords(text: string): string {
  let before = '';
  return text.replace(/[^\s&?;,"'<>]+/g, (word) => {
    const isCredential =
      SCHEMES.some((scheme) => before.endsWith(scheme)) ||
      (word.startsWith(TOKEN_START) && word.length >= MIN_TOKEN_LENGTH);
    before = word.toLowerCase();
    if (isCredential) return REDACTED;
    for (const prefix of OUR_PREFIXES) {
      const at = word.indexOf(prefix);
      if (at >= 0) return word.slice(0, at + prefix.length) + REDACTED;
    }
    const at = word.indexOf('=');
    const isSecret = at > 0 && at + 1 < word.length && SECRET_FIELD.test(word.slice(0, at));
    return isSecret ? word.slice(0, at + 1) + REDACTED : redactLogin(word);
  });
}

/** Redacts who signs in, and with which password, in an address. Pages of errors show those of databases. */
function redactLogin(word: string): string {
  const from = word.indexOf('://') + 3;
  const slash = word.indexOf('/', from);
  const at = word.slice(0, slash < 0 ? word.length : slash).lastIndexOf('@');
  return from > 2 && at > from ? word.slice(0, from) + REDACTED + word.slice(at) : word;
}

// Latin 1 maps each byte to one character, so all other bytes stay as they were. What replaces a short secret is longer.
const redactBody = (body: Buffer): Buffer =>
  Buffer.from(redactText(body.toString('latin1')), 'latin1').subarray(0, MAX_KEPT_BYTES);

// Postgres refuses zero bytes and lone surrogates, and one header must not stop the record of an attempt.
const toStorable = (text: string): string => text.replace(/\p{Cc}/gu, '\uFFFD').toWellFormed();

function redactHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const all = Object.entries(headers);
  const kept = all.slice(0, MAX_HEADERS).map(([name, value]): [string, string] => {
    const text = [value].flat().join(', ');
    const shown = SECRET_HEADER.test(name) ? REDACTED : redactText(text.slice(0, 2 * MAX_VALUE_LENGTH));
    return [toStorable(cut(name.toLowerCase(), MAX_NAME_LENGTH)), toStorable(cut(shown, MAX_VALUE_LENGTH))];
  });
  if (all.length > MAX_HEADERS) kept.push([MORE, `${all.length - MAX_HEADERS} more`]);
  return Object.fromEntries(kept);
}

const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length)}${MORE}` : text);

/**
 * Decodes a kept body for display. What is not UTF-8 becomes U+FFFD. Control characters become visible symbols, and characters
 * that change the direction of text are named, so that a body cannot disguise what it says.
 */
export function showBody({ body, isCut }: Pick<KeptAnswer, 'body' | 'isCut'>): string {
  // The cut may be within a character; `stream` leaves out its first part.
  const text = new TextDecoder().decode(body, { stream: isCut });
  return text
    .replaceAll('\r\n', '\n')
    .replace(/\p{Cc}/gu, (character) => {
      if (character === '\n' || character === '\t') return character;
      return character < ' ' ? String.fromCharCode(0x2400 + character.charCodeAt(0)) : '\uFFFD';
    })
    .replace(/[\p{Bidi_Control}\u2028\u2029]/gu, (character) => {
      return `<U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}>`;
    });
}
