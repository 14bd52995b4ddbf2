'use client';
import type { inferRouterOutputs } from '@trpc/server';
import { useState } from 'react';
import type { AppRouter } from '../../../server/procedures/router';
import { Badge } from '../components/badge';
import { joinClasses } from '../components/classes';
import { CutText } from '../components/cut-text';
import { HoverLink } from '../components/hover-link';
import { Check, ChevronsUpDown, Plus } from '../components/icons';
import { MENU_ITEM, Menu } from '../components/menu';
import { useStaff } from '../staff';
import { CreateIntegration } from './create-integration';

export type ListedIntegration = inferRouterOutputs<AppRouter>['integrations']['list'][number];

/** The current integration with its region and plan. Opens the list of the others, where admins can create one. */
export function IntegrationSwitcher({
  current,
  integrations,
}: {
  current: ListedIntegration;
  integrations: ListedIntegration[];
}) {
  const { isAdmin } = useStaff();
  const [isCreating, setCreating] = useState(false);
  return (
    <>
      <Menu
        label="switch integration"
        buttonClassName="w-full rounded border border-line p-2 text-left hover:bg-sunken"
        button={
          <>
            <span className="flex items-center justify-between gap-2">
              <CutText text={current.name} className="min-w-0 font-semibold" />
              <ChevronsUpDown size={14} className="shrink-0 text-faint" aria-hidden />
            </span>
            <span className="mt-1 flex gap-1">
              <Badge>{current.region.toUpperCase()}</Badge>
              <Badge tone="accent">{current.plan}</Badge>
            </span>
          </>
        }
      >
        {integrations.map(({ id, name, plan }) => (
          <HoverLink
            key={id}
            href={`/dashboard/${encodeURIComponent(id)}/overview`}
            className={MENU_ITEM}
            aria-current={id === current.id ? 'true' : undefined}
          >
            <CutText text={name} className="min-w-0 flex-1" />
            <span className="text-faint text-xs">{plan}</span>
            {id === current.id && <Check size={14} aria-hidden />}
          </HoverLink>
        ))}
        {isAdmin && (
          <button
            type="button"
            className={joinClasses(MENU_ITEM, 'mt-1 border-line border-t')}
            onClick={() => setCreating(true)}
          >
            <Plus size={14} aria-hidden />
            Create an integration
          </button>
        )}
      </Menu>
      <CreateIntegration isOpen={isCreating} onClose={() => setCreating(false)} />
    </>
  );
}
