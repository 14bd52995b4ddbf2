import fc from 'fast-check';

/** Any character of Unicode, ASCII more often. fast-check's unit `binary` takes a second of CPU time to list them first. */
export const character = fc
  .oneof(fc.nat(0x7f), fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint));

/** A plain web address with any path and query. fast-check's `webUrl` takes as long. */
export const webAddress = fc
  .tuple(fc.constantFrom('http', 'https'), fc.domain(), fc.string({ unit: 'grapheme-ascii' }))
  .map(([scheme, host, rest]) => `${scheme}://${host}/${rest}`);
