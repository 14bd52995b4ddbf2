'use client';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import type { Integration } from '../../../../contract/integrations';
import { Badge } from '../../components/badge';
import { Button } from '../../components/button';
import { ShortId } from '../../components/copying';
import { showCount } from '../../components/count';
import { Facts } from '../../components/details-panel';
import { ConfirmDialog } from '../../components/dialog';
import { Field, Select } from '../../components/field';
import { Section } from '../../components/page-header';
import { Pending } from '../../components/pending';
import { RoleNote } from '../../components/role-note';
import { Skeleton } from '../../components/states';
import { Time } from '../../components/time';
import { useToast } from '../../components/toast';
import { useTRPC } from '../../queries';
import { describeError } from '../../query-client';
import { useStaff } from '../../staff';
import { CreateIntegration, PLAN_WORDS } from '../create-integration';

/** The integration's details and its plan. */
export function IntegrationSettings() {
  const trpc = useTRPC();
  const { isAdmin } = useStaff();
  const [isCreating, setCreating] = useState(false);
  const query = useQuery(trpc.integration.get.queryOptions({}));
  if (!query.data) return <Pending query={query} className="h-96" />;
  const { id, name, plan, serviceTier, region, status, allowedOrigins, apiKeyMasked, webhooks, createdAt } = query.data;
  return (
    <div className="grid max-w-5xl items-start gap-4 lg:grid-cols-2">
      <Section title="About">
        <Facts
          facts={[
            ['Name', name],
            ['Integration', <ShortId key="id" id={id} name="integration id" />],
            ['Status', <Badge key="status">{status}</Badge>],
            ['Region', region.toUpperCase()],
            ['Plan', `${PLAN_WORDS[plan]}, service tier ${serviceTier}`],
            ['Webhooks', `${webhooks.active} active, at most ${webhooks.max}`],
            [
              'Origins',
              allowedOrigins.length > 0 && (
                <ul key="origins">
                  {allowedOrigins.map((origin) => (
                    <li key={origin}>{origin}</li>
                  ))}
                </ul>
              ),
            ],
            [
              'Youngest key',
              apiKeyMasked ? (
                <code key="key" className="font-mono text-xs">
                  {apiKeyMasked}
                </code>
              ) : null,
            ],
            ['Created', <Time key="created" at={createdAt} absolute />],
          ]}
        />
      </Section>
      <div className="space-y-4">
        <PlanChange integration={query.data} />
        <Section title="Another integration">
          <div className="space-y-3">
            <p className="text-muted">An integration is one customer with their keys, sessions and webhooks.</p>
            <Button disabled={!isAdmin} onClick={() => setCreating(true)}>
              Create an integration
            </Button>
            <RoleNote needs="admin" act="create integrations" />
          </div>
          <CreateIntegration isOpen={isCreating} onClose={() => setCreating(false)} />
        </Section>
      </div>
    </div>
  );
}

/** Changes the plan, after showing what the change means. */
function PlanChange({ integration }: { integration: Integration }) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const router = useRouter();
  const toast = useToast();
  const { isAdmin } = useStaff();
  /** Another plan than the present one, which somebody else may change meanwhile. */
  const [chosen, choose] = useState<Integration['plan'] | null>(null);
  const [isAsking, setAsking] = useState(false);
  const plan = chosen ?? integration.plan;
  const isChanged = plan !== integration.plan;
  const change = useMutation(
    trpc.integrations.setPlan.mutationOptions({
      onSuccess: async (after) => {
        toast({ text: `The plan is now ${PLAN_WORDS[after.plan]}` });
        // The server renders the switcher.
        router.refresh();
        await queryClient.invalidateQueries();
        choose(null);
      },
    }),
  );
  return (
    <Section title="Plan">
      <div className="space-y-3">
        <div className="flex flex-wrap items-end gap-2">
          <Field label="Plan">
            <Select
              className="w-40"
              disabled={!isAdmin}
              value={plan}
              onChange={({ target }) => {
                const to = target.value as Integration['plan'];
                choose(to === integration.plan ? null : to);
              }}
            >
              {Object.entries(PLAN_WORDS).map(([value, name]) => (
                <option key={value} value={value}>
                  {name}
                </option>
              ))}
            </Select>
          </Field>
          <Button disabled={!isAdmin || !isChanged} onClick={() => setAsking(true)}>
            Change plan
          </Button>
        </div>
        <RoleNote needs="admin" act="change the plan" />
      </div>
      <ConfirmDialog
        title={`Move ${integration.name} to ${PLAN_WORDS[plan]}?`}
        act="Change plan"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => change.mutateAsync({ id: integration.id, plan })}
        consequence={<PlanConsequence id={integration.id} plan={plan} />}
      />
    </Section>
  );
}

/** What the server says a plan would change. */
function PlanConsequence({ id, plan }: { id: string; plan: Integration['plan'] }) {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.integrations.previewPlan.queryOptions({ id, plan }), staleTime: 0 });
  if (query.error) return <p>The effect could not be loaded: {describeError(query.error)}</p>;
  if (!query.data) return <Skeleton className="h-24" />;
  const { requestsPerMinute, maxActiveWebhooks, retentionDays, disables } = query.data;
  return (
    <>
      <ul className="list-disc space-y-1 pl-4">
        <li>A key may make {showCount(requestsPerMinute)} requests a minute, from the next one on.</li>
        <li>
          Sessions are kept for {showCount(retentionDays)} days; older ones are deleted, and only their counts stay.
        </li>
        <li>
          {maxActiveWebhooks === 0
            ? 'No webhook may be active.'
            : `At most ${maxActiveWebhooks} ${maxActiveWebhooks === 1 ? 'webhook' : 'webhooks'} may be active.`}
        </li>
      </ul>
      {disables.length > 0 ? (
        <>
          <p className="mt-3 font-medium text-ink">
            {disables.length === 1 ? 'This webhook is' : `These ${disables.length} webhooks are`} disabled at once:
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
          <ul tabIndex={0} className="mt-1 max-h-40 list-disc overflow-y-auto pl-4">
            {disables.map(({ id: webhookId, name, eventType }) => (
              <li key={webhookId}>
                {name}
                {name !== eventType && `, ${eventType}`}
              </li>
            ))}
          </ul>
        </>
      ) : (
        <p className="mt-3">No webhook is disabled by it.</p>
      )}
    </>
  );
}
