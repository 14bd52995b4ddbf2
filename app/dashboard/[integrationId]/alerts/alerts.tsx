'use client';
import { useParams, useRouter } from 'next/navigation';
import { Button, ButtonLink } from '../../components/button';
import { PageHeader } from '../../components/page-header';
import { useShortcuts } from '../../components/shortcuts';
import { Tabs } from '../../components/tabs';
import { useUrlState } from '../../components/url-state';
import { useStaff } from '../../staff';
import { readAlertsTab } from './alert-filters';
import { AlertList } from './alert-list';
import { RuleList } from './rule-list';

/** The alerts, and the rules that fire them, one tab each. */
export function Alerts() {
  const { integrationId } = useParams<{ integrationId: string }>();
  const base = `/dashboard/${integrationId}/alerts`;
  const router = useRouter();
  const { params } = useUrlState();
  const { isAdmin } = useStaff();
  const tab = readAlertsTab(params);
  const create = `${base}/rules/new`;
  useShortcuts('Alerts', isAdmin ? [{ keys: 'n', name: 'New rule', run: () => router.push(create) }] : []);
  return (
    <>
      <PageHeader title="Alerts" about="What your rules, and those of the customer, found worth telling.">
        {isAdmin ? (
          <ButtonLink kind="primary" href={create}>
            New rule
          </ButtonLink>
        ) : (
          <Button kind="primary" disabled>
            New rule
          </Button>
        )}
      </PageHeader>
      <Tabs
        label="Alerts"
        current={tab}
        tabs={[
          { key: 'alerts', name: 'Alerts', href: base },
          { key: 'rules', name: 'Rules', href: `${base}?tab=rules` },
        ]}
      />
      <div className="pt-4">{tab === 'rules' ? <RuleList base={base} /> : <AlertList base={base} />}</div>
    </>
  );
}
