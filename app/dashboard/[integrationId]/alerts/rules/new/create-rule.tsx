'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useParams, useRouter } from 'next/navigation';
import { Breadcrumb, PageHeader } from '../../../../components/page-header';
import { useToast } from '../../../../components/toast';
import { useTRPC } from '../../../../queries';
import { EMPTY_RULE } from '../../rule-draft';
import { RuleForm } from '../../rule-form';

/** Creates an alert rule. */
export function CreateRule() {
  const { integrationId } = useParams<{ integrationId: string }>();
  const rules = `/dashboard/${integrationId}/alerts?tab=rules`;
  const router = useRouter();
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const create = useMutation(
    trpc.alertRules.create.mutationOptions({
      onSuccess: ({ id, name }) => {
        void queryClient.invalidateQueries({ queryKey: trpc.alertRules.list.queryKey() });
        toast({ text: `${name} is created. It judges what ends from now on.` });
        router.push(`${rules}&selected=${encodeURIComponent(id)}`);
      },
    }),
  );
  return (
    <>
      <Breadcrumb above={[{ name: 'Alert rules', href: rules }]}>New</Breadcrumb>
      <PageHeader title="New alert rule" about="A number, a limit and a window of time." />
      <RuleForm
        initial={EMPTY_RULE}
        act="Create rule"
        cancelHref={rules}
        // Also until the next page is there.
        isBusy={create.isPending || create.isSuccess}
        error={create.error}
        onSubmit={(rule) => create.mutate(rule)}
      />
    </>
  );
}
