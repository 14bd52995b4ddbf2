import type { Metadata } from 'next';
import { FirstContent, openPage, type PageProps } from '../../../../first-content';
import { CreateRule } from './create-rule';

export const metadata: Metadata = { title: 'New alert rule' };

export default async function NewRulePage(props: PageProps) {
  const { queryClient } = await openPage(props, 'alerts/rules/new');
  return (
    <FirstContent queryClient={queryClient}>
      <CreateRule />
    </FirstContent>
  );
}
