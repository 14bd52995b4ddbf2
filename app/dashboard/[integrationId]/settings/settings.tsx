'use client';
import { useParams } from 'next/navigation';
import { PageHeader } from '../../components/page-header';
import { Tabs } from '../../components/tabs';
import { useUrlState } from '../../components/url-state';
import { useStaff } from '../../staff';
import { ApiKeys } from './api-keys';
import { AuditLog } from './audit-log';
import { FindingRules } from './finding-rules';
import { IntegrationSettings } from './integration-settings';
import { RiskThresholdsEditor } from './risk-thresholds';
import type { PixelTag } from './site-tag';
import { Sites } from './sites';
import { StaffAccounts } from './staff-accounts';
import { ADMIN_TABS, readSettingsTab, TABS } from './tabs';

/**
 * The settings, one tab each. `minGap` is the smallest allowed distance between the cut points, `tag` what every tag of the
 * pixel has in common.
 */
export function Settings({ minGap, tag }: { minGap: number; tag: PixelTag }) {
  const { integrationId } = useParams<{ integrationId: string }>();
  const { params } = useUrlState();
  const { isAdmin } = useStaff();
  const tab = readSettingsTab(params);
  const shown = Object.entries(TABS).filter(([key]) => isAdmin || !ADMIN_TABS.includes(key));
  return (
    <>
      <PageHeader title="Settings" />
      <Tabs
        label="Settings"
        current={tab}
        tabs={shown.map(([key, name]) => ({
          key,
          name,
          href: `/dashboard/${integrationId}/settings?tab=${key}`,
        }))}
      />
      <div className="pt-4">
        {tab === 'api-keys' && <ApiKeys />}
        {tab === 'sites' && <Sites tag={tag} />}
        {tab === 'thresholds' && <RiskThresholdsEditor minGap={minGap} />}
        {tab === 'findings' && <FindingRules />}
        {tab === 'integration' && <IntegrationSettings />}
        {tab === 'staff' && <StaffAccounts />}
        {tab === 'audit' && <AuditLog />}
      </div>
    </>
  );
}
