import type { Metadata } from 'next';
import { FirstContent, openPage, orNotFound, type PageProps } from '../../../../first-content';
import { EditRule } from './edit-rule';

export const metadata: Metadata = { title: 'Edit alert rule' };

export default async function EditRulePage(props: PageProps<{ ruleId: string }>) {
  const { params, trpc, queryClient } = await openPage(props, 'alerts/rules/[ruleId]');
  const { ruleId: id } = params;
  await orNotFound(queryClient.fetchQuery(trpc.alertRules.get.queryOptions({ id })));
  return (
    <FirstContent queryClient={queryClient}>
      <EditRule id={id} />
    </FirstContent>
  );
}
