import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { cache } from 'react';
import type { Staff } from '../../contract/staff';
import { appRouter } from '../../server/procedures/router';
import { findSignedIn } from '../../server/rest/staff-cookies';
import { getService } from '../../server/service';

/** Finds the signed-in staff; null if nobody is signed in. Looked up once per request. */
export const getStaff = cache(async (): Promise<Staff | null> => {
  // Must come first: it tells Next, which builds pages without settings, to render this page per request.
  const cookies = (await headers()).get('cookie');
  return findSignedIn(getService(), cookies);
});

/** Returns the signed-in staff. Redirects anybody else to the sign-in page, which leads back to `path`. */
export async function requireStaff(path = '/dashboard'): Promise<Staff> {
  return (await getStaff()) ?? redirect(`/sign-in?next=${encodeURIComponent(path)}`);
}

/**
 * Creates a caller for the signed-in staff, with or without an integration. Throws UNAUTHORIZED if nobody is signed in.
 */
export async function createStaffCaller(integrationId: string | null) {
  const staff = await getStaff();
  const caller = staff
    ? ({ kind: 'staff', staff, integrationId, clientAddress: null } as const)
    : ({ kind: 'bearer', token: null } as const);
  return appRouter.createCaller({ service: getService(), caller });
}
