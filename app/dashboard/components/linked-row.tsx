'use client';
import { useState } from 'react';
import { DetailsPanel } from './details-panel';
import { Pending } from './pending';

// A link may select a row that its list does not show: one of a later page, one that the filter hides, or one that is gone.

/** Finds the selected row in a list. If it is elsewhere, `options` are those of the query that reads it by its id. */
export function useLinkedRow<Row extends { id: string }>(rows: Row[] | undefined, selected: string | null) {
  const listed = rows?.find(({ id }) => id === selected);
  // It may leave the list while it is selected. Without what the list had last, the panel would close while it is read, and lose the focus.
  const [last, setLast] = useState(listed);
  if (listed && listed !== last) setLast(listed);
  const isElsewhere = selected !== null && rows !== undefined && listed === undefined;
  return { listed, options: { enabled: isElsewhere, placeholderData: last?.id === selected ? last : undefined } };
}

/** Shown instead of a row that could not be read: a link may lead to one that is gone. */
export function UnreadRow({
  title,
  query,
  onClose,
}: {
  title: string;
  query: Parameters<typeof Pending>[0]['query'];
  onClose(): void;
}) {
  return (
    <DetailsPanel title={title} onClose={onClose}>
      <Pending query={query} className="h-96" />
    </DetailsPanel>
  );
}
