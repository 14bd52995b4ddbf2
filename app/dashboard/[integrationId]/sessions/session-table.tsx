'use client';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import type { ReactNode } from 'react';
import type { Session, Verdict } from '../../../../contract/sessions';
import { DataTable } from '../../components/data-table';
import { HoverLink } from '../../components/hover-link';
import { useTimeZone } from '../../components/time';
import { useSelection } from '../../components/url-state';
import { listRows, PAGES } from '../../list-pages';
import { useTRPC } from '../../queries';
import { useLabeling } from './labeling';
import { readListOrigin, withOrigin } from './list-origin';
import { nameSession, SESSION_COLUMNS, SESSION_NOUN } from './session-columns';

const COLUMNS_OF_USER = SESSION_COLUMNS.filter(({ key }) => key !== 'user');

interface SessionTableProps {
  /** Filters of the session list. The link to that list uses them, too. */
  filters: { userId: string } | { courseId: string };
  base: string;
  empty: ReactNode;
}

/** A session list on the page of a user or a course, with the same review keys as the main list. */
export function SessionTable({ filters, base, empty }: SessionTableProps) {
  const router = useRouter();
  const trpc = useTRPC();
  const { timeZone } = useTimeZone();
  const { selected, select, selectHere, readSelected } = useSelection();
  const labeling = useLabeling({ onUndo: ({ id }) => selectHere(id) });
  const query = useInfiniteQuery(trpc.sessions.list.infiniteQueryOptions(filters, PAGES));
  const list = listRows(query);
  const review = (verdict: Verdict) => () => {
    const current = readSelected();
    const session = list.rows?.find(({ id }) => id === current);
    if (session) labeling.label(session, verdict);
  };
  const explain = () => {
    const session = list.rows?.find(({ id }) => id === readSelected());
    if (session) void labeling.explain(session);
  };
  const hrefOf = ({ id }: Session) => withOrigin(`${base}/sessions/${encodeURIComponent(id)}`, readListOrigin(filters));
  return (
    <section>
      <div className="mb-2 flex items-center justify-between gap-2">
        <h2 className="font-semibold">Sessions</h2>
        <HoverLink
          className="text-accent underline-offset-2 hover:underline"
          href={`${base}/sessions?${new URLSearchParams(filters)}`}
        >
          Open in Sessions
        </HoverLink>
      </div>
      <DataTable
        caption="Sessions"
        noun={SESSION_NOUN}
        columns={'userId' in filters ? COLUMNS_OF_USER : SESSION_COLUMNS}
        {...list}
        rowKey={({ id }) => id}
        rowHref={hrefOf}
        rowName={(session) => nameSession(session, timeZone)}
        selected={selected}
        onSelect={select}
        readSelected={readSelected}
        onOpen={(session) => router.push(hrefOf(session))}
        empty={empty}
        shortcuts={[
          { keys: 'b', name: 'Label as bot', run: review('bot') },
          { keys: 'h', name: 'Label as human', run: review('human') },
          { keys: 'u', name: 'Undo the last label', run: labeling.undo },
          { keys: 'r', name: 'Give a reason for the label', run: explain },
        ]}
      />
    </section>
  );
}
