// Addresses of pages say what a page is about, but also carry secrets: sign-in codes, tokens of links, e-mail addresses.

/** The only parameters that stay: they name courses and activities of learning platforms. */
const KEPT_PARAMETERS = ['id', 'course', 'course_id', 'cmid', 'attempt'];
const HIDDEN = '…';

/** An enum, because the bundler writes its values in place. */
enum Limit {
  address = 512,
  part = 128,
  word = 32,
  number = 17,
}

/**
 * Cleans the address of a page: origin, path and a few parameters stay. Parts that look like tokens, e-mail addresses or
 * telephone numbers become `…`. Answers an empty text for what is no http or https address.
 */
export function cleanAddress(href: string): string {
  const { protocol, origin, pathname, searchParams } = new URL(href);
  if (!/^https?:$/.test(protocol)) return '';
  const path = pathname.split('/').map(cleanPart).join('/');
  const kept = KEPT_PARAMETERS.filter((name) => searchParams.has(name)).map(
    (name) => `${name}=${cleanPart(encodeURIComponent(searchParams.get(name)!))}`,
  );
  return (origin + path + (kept.length > 0 ? `?${kept.join('&')}` : '')).slice(0, Limit.address);
}

/** A part of an address in its encoded form, without matrix parameters (`;jsessionid=…`), or `…`. */
function cleanPart(encoded: string): string {
  const part = encoded.split(/;|%3B/i)[0]!;
  try {
    return isSecret(decodeURIComponent(part)) ? HIDDEN : part;
  } catch {
    return HIDDEN;
  }
}

/** Anything but words, numbers and the marks between them: `@`, `=`, a plus before a number, control characters. */
const ODD = /[@=+&?#<>"\\{}|^`\p{C}]/u;
const MARKS = /[-_.~,:!()'* ]/;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

function isSecret(part: string): boolean {
  return part.length > Limit.part || ODD.test(part) || UUID.test(part) || part.split(MARKS).some(isRandom);
}

/** Recognises words that nobody writes: long ones with digits all over, or with capitals all over. */
function isRandom(word: string): boolean {
  const { length } = word;
  if (/^\d+$/.test(word)) return length > Limit.number;
  if (length > Limit.word) return true;
  const digits = count(word, /\d/g);
  const changes = count(word, /\d(?=\D)|\D(?=\d)/g);
  if (length >= 6 && changes > 2) return true;
  if (length >= 12 && digits > 4 && digits < length) return true;
  return length >= 10 && count(word, /\p{Ll}(?=\p{Lu})/gu) > length / 6;
}

const count = (text: string, pattern: RegExp) => (text.match(pattern) ?? []).length;
