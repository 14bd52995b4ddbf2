'use server';
import { cookies } from 'next/headers';
import { readTimeZone, TIME_ZONE_COOKIE } from './time-zone';

const YEAR_SECONDS = 365 * 24 * 60 * 60;

/** Saves the time zone in which this browser shows times. */
export async function setTimeZone(timeZone: string): Promise<void> {
  const value = readTimeZone(timeZone);
  (await cookies()).set(TIME_ZONE_COOKIE, value, { path: '/', maxAge: YEAR_SECONDS, sameSite: 'lax' });
}
