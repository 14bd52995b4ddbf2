'use server';
import { cookies } from 'next/headers';
import { readTheme, THEME_COOKIE } from './theme';

const YEAR_SECONDS = 365 * 24 * 60 * 60;

/** Saves the theme of this browser. */
export async function setTheme(theme: string): Promise<void> {
  (await cookies()).set(THEME_COOKIE, readTheme(theme), { path: '/', maxAge: YEAR_SECONDS, sameSite: 'lax' });
}
