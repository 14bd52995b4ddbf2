import type { Metadata } from 'next';
import { FirstContent, openPage, type PageProps } from '../../../../first-content';
import { EMPTY_RULE, toPreviewed } from '../../rule-draft';
import { CreateRule } from './create-rule';

export const metadata: Metadata = { title: 'New alert rule' };

export default async function NewRulePage(props: PageProps) {
  const { trpc, queryClient } = await openPage(props, 'alerts/rules/new');
  await queryClient.prefetchQuery(trpc.alertRules.preview.queryOptions(toPreviewed(EMPTY_RULE)));
  return (
    <FirstContent queryClient={queryClient}>
      <CreateRule />
    </FirstContent>
  );
}
