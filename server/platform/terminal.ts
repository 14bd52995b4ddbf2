/** What a terminal obeys instead of showing it: control characters, separators of lines, marks that turn the direction of text. */
const CONTROLS = /(?!\n)[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

const escapeCharacter = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Escapes all control characters of a text except ends of lines. JSON stays the same JSON. */
export const escapeLines = (text: string) => text.replace(CONTROLS, escapeCharacter);

/** Escapes all control characters of a text, so that it is one line and has no columns. */
export const escapeControls = (text: string) => escapeLines(text).replaceAll('\n', '\\n');
