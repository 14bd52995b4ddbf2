import { cookies } from 'next/headers';
import { notFound } from 'next/navigation';
import type { ReactNode } from 'react';
import { ClockProvider } from '../components/time';
import { ToastProvider } from '../components/toast';
import { UrlStateProvider } from '../components/url-state';
import { LETTER_KEYS_COOKIE, readLetterKeys } from '../letter-keys';
import { QueriesProvider } from '../queries';
import { StaffProvider } from '../staff';
import { createStaffCaller, getStaff } from '../staff-session';
import { readTimeZone, TIME_ZONE_COOKIE } from '../time-zone';
import { LabelingDesk } from './sessions/labeling-desk';
import { isSetupDismissed, SETUP_COOKIE } from './setup/setup-cookie';
import { Shell } from './shell';

type Props = { params: Promise<{ integrationId: string }>; children: ReactNode };

/** The layout of all pages of an integration. */
export default async function IntegrationLayout({ params, children }: Props) {
  const integrationId = decodeURIComponent((await params).integrationId);
  const staff = await getStaff();
  // The page itself redirects to sign-in, with its own address to return to.
  if (!staff) return children;
  const [caller, ofIntegration] = await Promise.all([createStaffCaller(null), createStaffCaller(integrationId)]);
  const given = await cookies();
  const isSetupHidden = isSetupDismissed(given.get(SETUP_COOKIE)?.value);
  const [integrations, troubled, setup] = await Promise.all([
    caller.integrations.list(),
    // The menu does without them, for example if there is no such integration.
    ofIntegration.webhookStates.count().catch(() => undefined),
    isSetupHidden ? null : ofIntegration.setup.get().catch(() => null),
  ]);
  const integration = integrations.find(({ id }) => id === integrationId);
  if (!integration) notFound();
  const timeZone = readTimeZone(given.get(TIME_ZONE_COOKIE)?.value);
  const areLettersOn = readLetterKeys(given.get(LETTER_KEYS_COOKIE)?.value);
  return (
    <StaffProvider staff={staff}>
      <ClockProvider nowMs={Date.now()} timeZone={timeZone}>
        <QueriesProvider key={`${integrationId} ${staff.id}`} integrationId={integrationId}>
          <ToastProvider>
            <Shell
              integration={integration}
              integrations={integrations}
              troubled={troubled}
              setup={setup}
              areLettersOn={areLettersOn}
            >
              <UrlStateProvider>
                <LabelingDesk>{children}</LabelingDesk>
              </UrlStateProvider>
            </Shell>
          </ToastProvider>
        </QueriesProvider>
      </ClockProvider>
    </StaffProvider>
  );
}
