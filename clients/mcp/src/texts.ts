/**
 * What people do not see and models read: controls, bidirectional marks, tag characters, variation selectors, fillers, private and
 * unassigned characters, lone surrogates, separators of lines.
 */
const INVISIBLE = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800]/gu;

/** Writes invisible characters as `\uXXXX`, so that a JSON text inside of a text stays the same JSON. */
export const showInvisible = (text: string): string => text.replace(INVISIBLE, escapeCharacter);

const escapeCharacter = (character: string) =>
  Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');

/** Reverses `showInvisible` in an id that an assistant gives back. Other `\uXXXX` stay as they are. */
export const restoreInvisible = (text: string): string =>
  text.replace(/(?:\\u[0-9a-f]{4})+/g, (escaped) => {
    const restored = escaped.replace(/\\u(.{4})/g, (_, unit) => String.fromCharCode(Number.parseInt(unit, 16)));
    return showInvisible(restored) === escaped ? restored : escaped;
  });

/** Cuts a text to at most a number of UTF-16 units, and not inside of a character or of its `\uXXXX`. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return text.slice(0, limit).replace(/(?:[\ud800-\udbff]|\\(?:u[0-9a-f]{0,3})?)$/, '');
}
