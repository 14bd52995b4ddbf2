// Addresses of pages say what a page is about, but also carry secrets: sign-in codes, tokens of links, e-mail addresses.

import { guard } from './guard';

/** The only parameters that stay: they name courses and activities of learning platforms. */
const KEPT_PARAMETERS = /^(ou|course|attempt|(course_|cm)?id)$/;

/** An enum, because the bundler writes its values in place. */
enum Limit {
  length = 512,
  changes = 3,
}

/**
 * Cleans the address of a page: origin, path and a few parameters stay. Parts that look like tokens, e-mail addresses or
 * telephone numbers become `…`. Returns an empty text for what is no http or https address.
 */
export function cleanAddress(href: string): string {
  const { origin, pathname, searchParams } = new URL(href);
  if (!/^http/.test(href)) return '';
  const query = [...searchParams]
    .flatMap(([name, value]) => (KEPT_PARAMETERS.test(name) ? `${name}=${cleanPart(encodeURIComponent(value))}` : []))
    .join('&');
  return (origin + pathname.split('/').map(cleanPart).join('/') + (query && `?${query}`)).slice(0, Limit.length);
}

/** A part of an address in its encoded form, without matrix parameters (`;jsessionid=…`), or `…`. */
function cleanPart(encoded: string): string {
  const part = encoded.replace(/(;|%3B).*/i, '');
  // What cannot be decoded may be anything.
  const text = guard(() => decodeURIComponent(part).replace(OPEN_EDX, ''))() ?? '@';
  return SECRET.test(text) || text.split(CHANGE).length > Limit.changes + 1 ? '…' : part;
}

/** A course of Open edX with its organisation, number and run: no secret, although it has `+` and many changes. */
const OPEN_EDX = /^course-v1:[\w.~+-]+$/;
/** Characters of e-mail addresses, encodings, telephone numbers and of words that somebody searched for; words and numbers that are too long for a name. */
const SECRET = /[ %@=+&?#<>"\\{}|^`\p{C}]|[\p{L}\p{N}]{33}|\d{18}|\p{L}\d{7}|\d{7}\p{L}/u;
/** Where letters and digits meet, or a capital follows a small letter. Random words have many of these. */
const CHANGE = /\p{L}(?=\d)|\d(?=\p{L})|\p{Ll}(?=\p{Lu})/u;
