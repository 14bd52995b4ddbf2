'use client';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useParams, useRouter } from 'next/navigation';
import { USER_SORTS } from '../../../../contract/sort-orders';
import type { User } from '../../../../contract/users';
import { RiskBadge } from '../../components/badge';
import { ButtonLink } from '../../components/button';
import { Count } from '../../components/count';
import { CutText } from '../../components/cut-text';
import { type Column, DataTable } from '../../components/data-table';
import { DetailsPanel, ListWithDetails } from '../../components/details-panel';
import { ListTools } from '../../components/list-tools';
import { PageHeader } from '../../components/page-header';
import { Pending } from '../../components/pending';
import { ScoreBar } from '../../components/score-bar';
import { useSorting } from '../../components/sorting';
import { EmptyState } from '../../components/states';
import { Time } from '../../components/time';
import { useSelection } from '../../components/url-state';
import { listRows, PAGES, refreshEvery } from '../../list-pages';
import { REFRESH_MS } from '../../new-rows';
import { useTRPC } from '../../queries';
import { UserFacts } from './user-facts';

const COLUMNS: Column<User>[] = [
  {
    key: 'name',
    name: 'Name',
    sorts: { ascending: 'name' },
    cell: ({ name }) => <CutText text={name} className="max-w-36 font-medium @4xl:max-w-52" />,
  },
  { key: 'risk', name: 'Riskiest', width: '1%', cell: ({ riskLevel }) => <RiskBadge level={riskLevel} /> },
  {
    key: 'highest',
    name: 'Highest',
    sorts: { descending: 'highestScore' },
    from: 'sm',
    width: '1%',
    cell: ({ maxBotScore, riskLevel }) => <ScoreBar score={maxBotScore} level={riskLevel} />,
  },
  {
    key: 'average',
    name: 'Average',
    from: 'lg',
    width: '1%',
    cell: ({ averageBotScore }) => <ScoreBar score={averageBotScore} level={null} />,
  },
  {
    ...{ key: 'sessions', name: 'Sessions', isNumber: true, sorts: { descending: 'sessions' } },
    cell: ({ sessionCount }) => <Count value={sessionCount} />,
  },
  {
    key: 'bots',
    name: 'Bots',
    from: 'sm',
    isNumber: true,
    cell: ({ botSessionCount }) => <Count value={botSessionCount} />,
  },
  {
    key: 'devices',
    name: 'Devices',
    from: 'md',
    isNumber: true,
    cell: ({ deviceCount, confirmedDeviceCount }) => (
      <span title={`${confirmedDeviceCount} confirmed`}>
        <Count value={deviceCount} />
      </span>
    ),
  },
  {
    key: 'anomalies',
    name: 'Anomalies',
    from: 'md',
    isNumber: true,
    cell: ({ anomalyCount }) => <Count value={anomalyCount} />,
  },
  {
    key: 'seen',
    name: 'Last seen',
    sorts: { descending: 'lastSeen' },
    from: 'sm',
    isNumber: true,
    width: '1%',
    cell: ({ lastSeenAt }) => <Time at={lastSeenAt} />,
  },
];

const NOUN = ['user', 'users'] as const;

/** The users that sessions are correlated with, and a panel for the selected one. */
export function Users() {
  const { integrationId } = useParams<{ integrationId: string }>();
  const base = `/dashboard/${integrationId}`;
  const router = useRouter();
  const trpc = useTRPC();
  const { selected, select, readSelected } = useSelection();
  const sorting = useSorting(USER_SORTS);
  const filters = { sort: sorting.current };
  const query = useInfiniteQuery(
    trpc.users.listSorted.infiniteQueryOptions(filters, { ...PAGES, refetchInterval: refreshEvery(REFRESH_MS) }),
  );
  const total = useQuery(trpc.users.count.queryOptions(undefined, { refetchInterval: REFRESH_MS })).data;
  const list = listRows(query);
  const hrefOf = ({ id }: User) => `${base}/users/${encodeURIComponent(id)}`;
  return (
    <>
      <PageHeader title="Users" about="LMS users that sessions were matched to." />
      <ListTools
        {...{ list: 'users', page: 'users', noun: NOUN, filters, total, rows: list.rows, hasMore: list.hasMore }}
        note={
          sorting.current === 'id' ? 'In the order of their ids.' : 'New sessions change this order within a minute.'
        }
      />
      <ListWithDetails
        list={
          <DataTable
            caption="Users"
            noun={NOUN}
            total={total}
            sorting={sorting}
            columns={COLUMNS}
            {...list}
            rowKey={({ id }) => id}
            rowHref={hrefOf}
            rowName={({ name, id }) => `${name}, ${id}`}
            selected={selected}
            onSelect={select}
            readSelected={readSelected}
            onOpen={(user) => router.push(hrefOf(user))}
            empty={
              <EmptyState title="No users yet">
                <p>
                  A user appears here once a session was matched to them: the pixel on the LMS tells who is signed in,
                  and the correlation says how sure it is.
                </p>
              </EmptyState>
            }
            shortcuts={[{ keys: 'Escape', name: 'Close details', run: () => select(null) }]}
          />
        }
        details={
          selected && (
            <UserPanel
              key={selected}
              userId={selected}
              listed={list.rows?.find(({ id }) => id === selected)}
              base={base}
              onClose={() => select(null)}
            />
          )
        }
      />
    </>
  );
}

interface UserPanelProps {
  userId: string;
  /** The user from the loaded list, if they are there. */
  listed: User | undefined;
  base: string;
  onClose(): void;
}

function UserPanel({ userId, listed, base, onClose }: UserPanelProps) {
  const trpc = useTRPC();
  const query = useQuery({ ...trpc.users.get.queryOptions({ userId }), enabled: !listed });
  const user = listed ?? query.data;
  return (
    <DetailsPanel title={user?.name ?? 'User'} onClose={onClose}>
      {user ? (
        <div className="space-y-4">
          <ButtonLink href={`${base}/users/${encodeURIComponent(userId)}`}>Open user</ButtonLink>
          <UserFacts user={user} />
        </div>
      ) : (
        <Pending query={query} className="h-80" />
      )}
    </DetailsPanel>
  );
}
