'use client';
import Link from 'next/link';
import { type ReactNode, useEffect, useRef } from 'react';
import { Button } from './button';
import { joinClasses } from './classes';
import { type Shortcut, useShortcuts } from './shortcuts';
import { ErrorState } from './states';

export interface Column<Row> {
  key: string;
  name: string;
  cell(row: Row): ReactNode;
  isNumber?: boolean;
  /** The table width from which the column is shown: 576, 768 or 896 pixels. Always shown if absent. */
  from?: 'sm' | 'md' | 'lg';
  /** A CSS width. Columns without one share the remaining space. */
  width?: string;
}

// Container widths of the table itself, because a details panel makes it narrower.
const FROM = { sm: '@max-xl:hidden', md: '@max-3xl:hidden', lg: '@max-4xl:hidden' };
const SKELETON_ROWS = Array.from({ length: 12 }, (_, n) => n);

interface DataTableProps<Row> {
  /** What the table lists, for screen readers. */
  caption: string;
  columns: Column<Row>[];
  /** Undefined while the rows load. */
  rows: Row[] | undefined;
  rowKey(row: Row): string;
  /** The link of a row; its first cell becomes the link. */
  rowHref?: (row: Row) => string;
  selected?: string | null;
  /** Makes rows selectable. */
  onSelect?: (key: string) => void;
  /** Reads the current selection, which may be ahead of the rendered one. */
  readSelected?: () => string | null;
  onOpen?: (row: Row) => void;
  onHover?: (row: Row) => void;
  error?: string | null;
  onRetry?: () => void;
  /** Shown when there are no rows. */
  empty: ReactNode;
  hasMore?: boolean;
  isLoadingMore?: boolean;
  onLoadMore?: () => void;
  /** More shortcuts that act on the selected row. */
  shortcuts?: Shortcut[];
}

/**
 * A dense table for a keyset list. `j` and `k` move the selection, `o` or Enter opens a row, a click selects it. The
 * table keeps its height while it loads. If loading fails, it says why and offers a retry.
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { caption, columns, rows, rowKey, rowHref, selected, onSelect, onOpen, onHover, error, empty } = props;
  const readSelected = props.readSelected ?? (() => selected);
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    if (selected) body.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [selected]);

  const step = (by: 1 | -1) => () => {
    if (!rows?.length || !onSelect) return;
    const current = readSelected();
    const at = rows.findIndex((row) => rowKey(row) === current);
    const next = at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by;
    if (next >= rows.length - 1 && props.hasMore) props.onLoadMore?.();
    const row = rows[Math.min(Math.max(next, 0), rows.length - 1)];
    if (row) onSelect(rowKey(row));
  };
  const open = () => {
    const current = readSelected();
    const row = rows?.find((candidate) => rowKey(candidate) === current);
    if (row) onOpen?.(row);
  };
  const moves: Shortcut[] = onSelect
    ? [
        { keys: 'j', name: 'Next row', run: step(1) },
        { keys: 'k', name: 'Previous row', run: step(-1) },
      ]
    : [];
  const opens: Shortcut[] = onOpen
    ? [
        { keys: 'o', name: 'Open', run: open },
        { keys: 'Enter', name: 'Open', run: open },
      ]
    : [];
  useShortcuts(caption, [...moves, ...opens, ...(props.shortcuts ?? [])]);

  if (error && !rows?.length) return <ErrorState message={error} onRetry={props.onRetry} />;
  if (rows?.length === 0 && !props.hasMore) return <div className="rounded border border-line bg-surface">{empty}</div>;
  const place = (column: Column<Row>) => joinClasses(column.from && FROM[column.from], column.isNumber && 'text-right');
  return (
    <div className="rounded border border-line bg-surface">
      <div
        // A scrollable area must be reachable by keyboard: through the links in it, or by its own tab stop.
        tabIndex={rowHref ? undefined : 0}
        className="@container overflow-x-auto rounded lg:overflow-x-clip"
      >
        <table className="w-full border-separate border-spacing-0" aria-busy={rows === undefined}>
          <caption className="sr-only">{caption}</caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <th
                  key={column.key}
                  scope="col"
                  style={{ width: column.width }}
                  className={joinClasses(
                    'sticky top-0 z-10 h-8 whitespace-nowrap border-b bg-surface px-2 text-left @lg:px-3 font-medium text-muted text-xs',
                    place(column),
                  )}
                >
                  {column.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody ref={body}>
            {rows?.map((row) => {
              const key = rowKey(row);
              return (
                <tr
                  key={key}
                  aria-current={key === selected ? 'true' : undefined}
                  onClick={onSelect && (() => onSelect(key))}
                  onPointerEnter={onHover && (() => onHover(row))}
                  className={joinClasses(
                    'scroll-mt-8 hover:bg-sunken aria-[current]:bg-accent-soft',
                    onSelect && 'cursor-default',
                  )}
                >
                  {columns.map((column, index) => (
                    <td
                      key={column.key}
                      className={joinClasses('h-9 border-line/60 border-b px-2 @lg:px-3', place(column))}
                    >
                      {index === 0 && rowHref ? (
                        <Link href={rowHref(row)} prefetch={false} className="hover:underline">
                          {column.cell(row)}
                        </Link>
                      ) : (
                        column.cell(row)
                      )}
                    </td>
                  ))}
                </tr>
              );
            })}
            {rows === undefined && SKELETON_ROWS.map((n) => <SkeletonRow key={n} columns={columns} place={place} />)}
          </tbody>
        </table>
      </div>
      {rows && <TableFoot {...props} />}
    </div>
  );
}

function SkeletonRow<Row>({ columns, place }: { columns: Column<Row>[]; place(column: Column<Row>): string }) {
  return (
    <tr>
      {columns.map((column) => (
        <td key={column.key} className={joinClasses('h-9 border-line/60 border-b px-2 @lg:px-3', place(column))}>
          <div className="skeleton inline-block h-3 w-3/4 align-middle" />
        </td>
      ))}
    </tr>
  );
}

function TableFoot<Row>({ rows, error, onRetry, hasMore, isLoadingMore, onLoadMore }: DataTableProps<Row>) {
  return (
    <div className="flex min-h-10 items-center justify-between gap-3 px-3 py-1 text-muted text-xs">
      <span role="status">
        {rows?.length ?? 0} shown{hasMore ? '' : ', that is all'}
      </span>
      {error ? (
        <ErrorState message={error} onRetry={onRetry} />
      ) : (
        hasMore && (
          <Button kind="quiet" onClick={onLoadMore} disabled={isLoadingMore}>
            {isLoadingMore ? 'Loading …' : 'Load more'}
          </Button>
        )
      )}
    </div>
  );
}
