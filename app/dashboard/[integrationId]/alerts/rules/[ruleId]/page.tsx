import type { Metadata } from 'next';
import { FirstContent, openPage, orNotFound, type PageProps } from '../../../../first-content';
import { fillRuleDraft, toPreviewed } from '../../rule-draft';
import { EditRule } from './edit-rule';

export const metadata: Metadata = { title: 'Edit alert rule' };

export default async function EditRulePage(props: PageProps<{ ruleId: string }>) {
  const { params, trpc, queryClient } = await openPage(props, 'alerts/rules/[ruleId]');
  const { ruleId: id } = params;
  const rule = await orNotFound(queryClient.fetchQuery(trpc.alertRules.get.queryOptions({ id })));
  await queryClient.prefetchQuery(trpc.alertRules.preview.queryOptions(toPreviewed(fillRuleDraft(rule))));
  return (
    <FirstContent queryClient={queryClient}>
      <EditRule id={id} />
    </FirstContent>
  );
}
