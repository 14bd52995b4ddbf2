'use client';
import { useParams } from 'next/navigation';
import { PageHeader } from '../../components/page-header';
import { Tabs } from '../../components/tabs';
import { useUrlState } from '../../components/url-state';
import { ApiKeys } from './api-keys';
import { IntegrationSettings } from './integration-settings';
import { RiskThresholds } from './risk-thresholds';
import { StaffAccounts } from './staff-accounts';
import { readTab, TABS } from './tabs';

/** What can be set, a tab each. `minGap` is the least distance of the cut points. */
export function Settings({ minGap }: { minGap: number }) {
  const { integrationId } = useParams<{ integrationId: string }>();
  const { params } = useUrlState();
  const tab = readTab(params);
  return (
    <>
      <PageHeader title="Settings" />
      <Tabs
        label="Settings"
        current={tab}
        tabs={Object.entries(TABS).map(([key, name]) => ({
          key,
          name,
          href: `/dashboard/${integrationId}/settings?tab=${key}`,
        }))}
      />
      <div className="pt-4">
        {tab === 'api-keys' && <ApiKeys />}
        {tab === 'thresholds' && <RiskThresholds minGap={minGap} />}
        {tab === 'integration' && <IntegrationSettings />}
        {tab === 'staff' && <StaffAccounts />}
      </div>
    </>
  );
}
