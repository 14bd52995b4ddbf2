'use server';
import { cookies } from 'next/headers';
import { SETUP_COOKIE } from './setup-cookie';

const YEAR_SECONDS = 365 * 24 * 60 * 60;

/** Hides the set-up of an integration from this browser's menu, or shows it again. */
export async function setSetupDismissed(integrationId: string, isDismissed: boolean): Promise<void> {
  // The path tells integrations apart, so that the cookie holds no list of them.
  const path = `/dashboard/${encodeURIComponent(integrationId)}`;
  (await cookies()).set(SETUP_COOKIE, isDismissed ? 'dismissed' : '', {
    ...{ path, maxAge: isDismissed ? YEAR_SECONDS : 0, sameSite: 'lax' },
  });
}
