'use client';
import { useQuery } from '@tanstack/react-query';
import { HoverLink } from '../../../components/hover-link';
import { Section } from '../../../components/page-header';
import { Pending } from '../../../components/pending';
import { Time } from '../../../components/time';
import { useTRPC } from '../../../queries';
import { DeliveryStatusBadge } from '../../webhooks/delivery-status';

const REFRESH_MS = 1_500;
const isPending = ({ status }: { status: string }) => status === 'Pending';

interface SessionDeliveriesProps {
  sessionId: string;
  base: string;
  /** While the session is open. */
  refetchInterval: number | false;
}

/** The webhook deliveries about the session. */
export function SessionDeliveries({ sessionId, base, refetchInterval }: SessionDeliveriesProps) {
  const trpc = useTRPC();
  const list = useQuery(
    trpc.sessions.listDeliveries.queryOptions(
      { sessionId },
      // The last deliveries are still pending when the session has just ended.
      { refetchInterval: ({ state }) => refetchInterval || (state.data?.some(isPending) ? REFRESH_MS : false) },
    ),
  );
  return (
    <Section title="Sent about it">
      <Pending query={list} className="h-5" />
      {list.data?.length === 0 ? (
        <p className="text-faint not-first:mt-4">Nothing was sent.</p>
      ) : (
        <ul className="space-y-1.5 empty:hidden not-first:mt-4">
          {list.data?.map(({ id, subscriptionId, eventType, status, createdAt }) => (
            <li key={id} className="flex items-center gap-3">
              <HoverLink
                className="min-w-0 flex-1 truncate hover:underline"
                title={eventType}
                href={`${base}/webhooks/${encodeURIComponent(subscriptionId)}?delivery=${encodeURIComponent(id)}`}
              >
                {eventType}
              </HoverLink>
              <DeliveryStatusBadge status={status} />
              <span className="text-muted">
                <Time at={createdAt} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}
