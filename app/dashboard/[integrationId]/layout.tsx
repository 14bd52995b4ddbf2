import { cookies } from 'next/headers';
import { notFound } from 'next/navigation';
import type { ReactNode } from 'react';
import { ClockProvider } from '../components/time';
import { ToastProvider } from '../components/toast';
import { UrlStateProvider } from '../components/url-state';
import { QueriesProvider } from '../queries';
import { StaffProvider } from '../staff';
import { createStaffCaller, getStaff } from '../staff-session';
import { readTheme, THEME_COOKIE } from '../theme';
import { Shell } from './shell';

type Props = { params: Promise<{ integrationId: string }>; children: ReactNode };

/** The layout of all pages of an integration. */
export default async function IntegrationLayout({ params, children }: Props) {
  const integrationId = decodeURIComponent((await params).integrationId);
  const staff = await getStaff();
  // The page itself redirects to sign-in, with its own address to return to.
  if (!staff) return children;
  const caller = await createStaffCaller(null);
  const integrations = await caller.integrations.list();
  const integration = integrations.find(({ id }) => id === integrationId);
  if (!integration) notFound();
  const theme = readTheme((await cookies()).get(THEME_COOKIE)?.value);
  return (
    <StaffProvider staff={staff}>
      <ClockProvider nowMs={Date.now()}>
        <QueriesProvider key={integrationId} integrationId={integrationId}>
          <ToastProvider>
            <Shell integration={integration} integrations={integrations} theme={theme}>
              <UrlStateProvider>{children}</UrlStateProvider>
            </Shell>
          </ToastProvider>
        </QueriesProvider>
      </ClockProvider>
    </StaffProvider>
  );
}
