'use client';
import { useQuery } from '@tanstack/react-query';
import { useParams } from 'next/navigation';
import { isPseudonym } from '../../../../../contract/pseudonyms';
import { ShortId } from '../../../components/copying';
import { Breadcrumb, PageHeader, Section } from '../../../components/page-header';
import { Pending } from '../../../components/pending';
import { EmptyState } from '../../../components/states';
import { Time } from '../../../components/time';
import { useTRPC } from '../../../queries';
import { AnomalyList } from '../../anomalies/anomaly-list';
import { SessionTable } from '../../sessions/session-table';
import { UserFacts } from '../user-facts';
import { Devices } from './devices';
import { Erasing } from './erasing';

/** Everything about one user: who they are, their devices, anomalies and sessions. */
export function UserPage({ userId }: { userId: string }) {
  const { integrationId } = useParams<{ integrationId: string }>();
  const base = `/dashboard/${integrationId}`;
  const trpc = useTRPC();
  const query = useQuery(trpc.users.get.queryOptions({ userId }));
  const user = query.data;
  if (!user) return <Pending query={query} className="h-96" />;
  return (
    <>
      <Breadcrumb above={[{ name: 'Users', href: `${base}/users` }]}>
        <ShortId id={user.id} name="user id" />
      </Breadcrumb>
      <PageHeader
        title={user.name}
        about={
          <>
            {user.email && `${user.email}, `}last seen <Time at={user.lastSeenAt} />
          </>
        }
      />
      <div className="flex flex-col gap-4 lg:grid lg:grid-cols-12 lg:items-start">
        {/* Both have their places, so that neither moves while the page arrives. */}
        <div className="flex flex-col gap-4 lg:col-span-4 lg:col-start-9 lg:row-start-1">
          <Section title="About">
            <UserFacts user={user} />
          </Section>
          <Devices user={user} />
          <Section title="Anomalies">
            <AnomalyList filters={{ userId }} base={base} />
          </Section>
          {!isPseudonym(user.id) && <Erasing user={user} />}
        </div>
        <div className="min-w-0 lg:col-span-8 lg:col-start-1 lg:row-start-1">
          <SessionTable
            filters={{ userId }}
            base={base}
            empty={
              <EmptyState title="No sessions are kept">
                <p>They are older than the plan’s retention period; the counts remain.</p>
              </EmptyState>
            }
          />
        </div>
      </div>
    </>
  );
}
