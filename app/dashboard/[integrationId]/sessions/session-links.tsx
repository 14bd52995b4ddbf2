'use client';
import Link from 'next/link';
import { useParams } from 'next/navigation';
import type { ReactNode } from 'react';
import type { ListSessionsInput } from '../../../../contract/sessions';
import { ListFilter } from '../../components/icons';
import { describeFlag } from './flag-words';

/** Filters of the list of sessions, by the names that its address has. */
type Filter = Partial<
  Record<
    keyof Pick<
      ListSessionsInput,
      'detectionFlag' | 'fingerprint' | 'courseId' | 'userId' | 'origin' | 'startDate' | 'endDate'
    >,
    string
  >
>;

interface SessionsLinkProps {
  filter: Filter;
  /** For screen readers, if the content does not say where the link leads. */
  label?: string;
  title?: string;
  className?: string;
  children: ReactNode;
}

/** A link to the list of sessions with a filter. In a row that can be selected it does not select the row. */
export function SessionsLink({ filter, label, title, className, children }: SessionsLinkProps) {
  const { integrationId } = useParams<{ integrationId: string }>();
  return (
    <Link
      href={`/dashboard/${integrationId}/sessions?${new URLSearchParams(filter)}`}
      prefetch={false}
      aria-label={label}
      title={title}
      className={className ?? 'wrap-anywhere text-accent underline-offset-2 hover:underline'}
      onClick={(event) => event.stopPropagation()}
    >
      {children}
    </Link>
  );
}

/** A small link next to a thing that has a page or a function itself. `of` names the thing. */
export function SessionsOf({ filter, of }: { filter: Filter; of: string }) {
  return (
    <SessionsLink
      filter={filter}
      label={`Sessions of ${of}`}
      title={`Sessions of ${of}`}
      className="inline-flex size-6 shrink-0 items-center justify-center rounded text-faint hover:bg-sunken hover:text-ink"
    >
      <ListFilter size={14} aria-hidden />
    </SessionsLink>
  );
}

/** A flag as a link to the sessions that have it. */
export function FlagLink({ flag, className }: { flag: string; className?: string }) {
  const words = describeFlag(flag);
  return (
    <SessionsLink
      filter={{ detectionFlag: flag }}
      label={`Sessions with the flag: ${words}`}
      title={flag}
      className={className ?? 'truncate underline-offset-2 hover:underline'}
    >
      {words}
    </SessionsLink>
  );
}
