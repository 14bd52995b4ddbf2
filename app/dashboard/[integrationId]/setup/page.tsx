import type { Metadata } from 'next';
import { cookies } from 'next/headers';
import { FirstContent, openPage, type PageProps } from '../../first-content';
import { readPixelTag } from '../settings/pixel-tag';
import { SetupChecklist } from './setup';
import { isSetupDismissed, SETUP_COOKIE } from './setup-cookie';

export const metadata: Metadata = { title: 'Set-up' };

export default async function SetupPage(props: PageProps) {
  const { trpc, queryClient } = await openPage(props, 'setup');
  await Promise.all([
    queryClient.prefetchQuery(trpc.setup.get.queryOptions()),
    queryClient.prefetchQuery(trpc.sites.list.queryOptions()),
    queryClient.prefetchQuery(trpc.sites.getCollecting.queryOptions()),
  ]);
  const isDismissed = isSetupDismissed((await cookies()).get(SETUP_COOKIE)?.value);
  return (
    <FirstContent queryClient={queryClient}>
      <SetupChecklist tag={await readPixelTag()} isDismissed={isDismissed} />
    </FirstContent>
  );
}
