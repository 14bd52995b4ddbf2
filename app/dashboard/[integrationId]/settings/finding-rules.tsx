'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { FindingRule } from '../../../../contract/findings';
import { Switch } from '../../components/field';
import { Section } from '../../components/page-header';
import { Pending } from '../../components/pending';
import { RoleNote } from '../../components/role-note';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { describeError } from '../../query-client';
import { useStaff } from '../../staff';
import { nameRule } from '../anomalies/anomaly-words';

/** What is looked for in the sessions, each with a switch. */
export function FindingRules() {
  const trpc = useTRPC();
  const query = useQuery(trpc.findingRules.list.queryOptions());
  if (!query.data) return <Pending query={query} className="h-96" />;
  return (
    <div className="max-w-5xl">
      <Section title="What is looked for">
        <p className="mb-3 text-muted">
          A rule that is off finds nothing from then on; what it found before stays. Switch a rule off if your own
          pipeline reports the same, or if its findings have innocent reasons where you are.
        </p>
        <ul className="divide-y divide-line">
          {query.data.map((rule) => (
            <RuleSwitch key={rule.rule} rule={rule} />
          ))}
        </ul>
        <RoleNote needs="admin" act="switch rules" />
      </Section>
    </div>
  );
}

function RuleSwitch({ rule: { rule, definition, isEnabled } }: { rule: FindingRule }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const toast = useToast();
  const { isAdmin } = useStaff();
  // Where the switch was put. The mutation is pending only one task later, and until then React would put it back.
  const [chosen, setChosen] = useState<boolean | null>(null);
  const change = useMutation(
    trpc.findingRules.set.mutationOptions({
      // Pending until the new state is read, or the switch would show the old one in between.
      onSuccess: () => queryClient.invalidateQueries({ queryKey: trpc.findingRules.list.queryKey() }),
      onError: (error) => toast({ text: `Not changed. ${describeError(error)}`, isError: true }),
    }),
  );
  return (
    <li className="py-3">
      <Switch
        label={<span className="font-medium">{nameRule(rule)}</span>}
        disabled={!isAdmin || change.isPending}
        checked={chosen ?? isEnabled}
        onChange={({ target }) => {
          setChosen(target.checked);
          change.mutate({ rule, isEnabled: target.checked }, { onSettled: () => setChosen(null) });
        }}
      />
      <p className="mt-1 text-muted">
        <code className="font-mono text-xs">{rule}</code> {definition}
      </p>
    </li>
  );
}
