'use client';
import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '../../queries';
import { useStaff } from '../../staff';

/** How many of the plan's active webhooks are in use. Says so when the limit is reached. */
export function PlanCap() {
  const integration = useQuery(useTRPC().integration.get.queryOptions({}));
  const { canWrite } = useStaff();
  if (!canWrite)
    return <span className="text-muted">Your role is viewer: you can see everything and change nothing.</span>;
  if (!integration.data) return null;
  const { plan, webhooks } = integration.data;
  const isReached = webhooks.active >= webhooks.max;
  const count = `${webhooks.active} of ${webhooks.max} active`;
  return (
    <span className={isReached ? 'text-medium' : 'text-muted'}>
      {!isReached
        ? count
        : webhooks.max === 0
          ? `The plan ${plan} has no webhooks.`
          : `${count}: the plan ${plan} allows no more. Disable or delete one first.`}
    </span>
  );
}
