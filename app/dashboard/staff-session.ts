import { headers } from 'next/headers';
import { redirect } from 'next/navigation';
import { cache } from 'react';
import type { Staff } from '../../contract/staff';
import { appRouter } from '../../server/procedures/router';
import { findSignedIn } from '../../server/rest/staff-door';
import { getService } from '../../server/service';

/** Who is signed in; null where nobody is. Looked up once a request. */
export const getStaff = cache(async (): Promise<Staff | null> => {
  // Before anything else: it tells Next, which builds pages without settings, that this one is made for each request.
  const cookies = (await headers()).get('cookie');
  return findSignedIn(getService(), cookies);
});

/** Who is signed in; anybody else is sent to the sign-in page, which leads back to `path`. */
export async function requireStaff(path = '/dashboard'): Promise<Staff> {
  return (await getStaff()) ?? redirect(`/sign-in?next=${encodeURIComponent(path)}`);
}

/** The procedures for whoever is signed in, looking at an integration or at none. UNAUTHORIZED where nobody is. */
export async function createStaffCaller(integrationId: string | null) {
  const staff = await getStaff();
  const caller = staff
    ? ({ kind: 'staff', staff, integrationId, clientAddress: null } as const)
    : ({ kind: 'bearer', token: null } as const);
  return appRouter.createCaller({ service: getService(), caller });
}
