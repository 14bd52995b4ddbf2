'use server';
import { cookies } from 'next/headers';
import { LETTER_KEYS_COOKIE } from './letter-keys';

const YEAR_SECONDS = 365 * 24 * 60 * 60;

/** Switches shortcuts of one character on or off in this browser. */
export async function setLetterKeys(areOn: boolean): Promise<void> {
  (await cookies()).set(LETTER_KEYS_COOKIE, areOn ? 'on' : 'off', {
    ...{ path: '/', maxAge: YEAR_SECONDS, sameSite: 'lax' },
  });
}
