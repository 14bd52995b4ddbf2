'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams, useRouter } from 'next/navigation';
import { useState } from 'react';
import type { AlertRule } from '../../../../../../contract/alert-rules';
import { Breadcrumb, PageHeader } from '../../../../components/page-header';
import { Pending } from '../../../../components/pending';
import { useToast } from '../../../../components/toast';
import { useTRPC } from '../../../../queries';
import { fillRuleDraft } from '../../rule-draft';
import { RuleForm } from '../../rule-form';

export function EditRule({ id }: { id: string }) {
  const query = useQuery(useTRPC().alertRules.get.queryOptions({ id }));
  return query.data ? <OpenedRule latest={query.data} /> : <Pending query={query} className="h-96" />;
}

/**
 * Edits an alert rule. If its condition changes, it starts again. The rule stays as it was opened, with its version: if somebody else
 * changes it meanwhile, saving is refused.
 */
function OpenedRule({ latest }: { latest: AlertRule }) {
  const [rule] = useState(latest);
  const { id } = rule;
  const { integrationId } = useParams<{ integrationId: string }>();
  const rules = `/dashboard/${integrationId}/alerts?tab=rules`;
  const router = useRouter();
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
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
        // Also until the next page is there.
        isBusy={update.isPending || update.isSuccess}
        error={update.error}
        onSubmit={(changed) => update.mutate({ ...changed, id, version: rule.version })}
      />
    </>
  );
}
