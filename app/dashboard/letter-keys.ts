export const LETTER_KEYS_COOKIE = 'letter_keys';

/** Reads from a cookie's value whether shortcuts of one character are on; they are unless somebody switched them off. */
export const readLetterKeys = (value: string | undefined): boolean => value !== 'off';
