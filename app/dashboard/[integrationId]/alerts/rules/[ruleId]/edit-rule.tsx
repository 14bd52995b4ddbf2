'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams, useRouter } from 'next/navigation';
import { Breadcrumb, PageHeader } from '../../../../components/page-header';
import { Pending } from '../../../../components/pending';
import { useToast } from '../../../../components/toast';
import { useTRPC } from '../../../../queries';
import { fillRuleDraft } from '../../rule-draft';
import { RuleForm } from '../../rule-form';

/** Edits an alert rule. If its condition changes, it starts again. */
export function EditRule({ id }: { id: string }) {
  const { integrationId } = useParams<{ integrationId: string }>();
  const rules = `/dashboard/${integrationId}/alerts?tab=rules`;
  const router = useRouter();
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const query = useQuery(trpc.alertRules.get.queryOptions({ id }));
  const update = useMutation(
    trpc.alertRules.update.mutationOptions({
      onSuccess: (after) => {
        queryClient.setQueryData(trpc.alertRules.get.queryKey({ id }), after);
        void queryClient.invalidateQueries({ queryKey: trpc.alertRules.list.queryKey() });
        toast({ text: 'Saved' });
        router.push(`${rules}&selected=${encodeURIComponent(id)}`);
      },
    }),
  );
  const rule = query.data;
  if (!rule) return <Pending query={query} className="h-96" />;
  return (
    <>
      <Breadcrumb above={[{ name: 'Alert rules', href: rules }]}>{rule.name}</Breadcrumb>
      <PageHeader
        title={`Edit ${rule.name}`}
        about="With another condition it starts again: windows that end from then on are judged."
      />
      <RuleForm
        initial={fillRuleDraft(rule)}
        act="Save"
        cancelHref={rules}
        isBusy={update.isPending}
        error={update.error}
        onSubmit={(changed) => update.mutate({ ...changed, id, version: rule.version })}
      />
    </>
  );
}
