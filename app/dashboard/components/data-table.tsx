'use client';
import Link from 'next/link';
import { type ReactNode, useEffect, useRef } from 'react';
import type { Total } from '../../../contract/totals';
import { Button } from './button';
import { joinClasses } from './classes';
import { ColumnName, findDirection, type NamedColumn } from './column-name';
import { type Noun, showProgress } from './list-total';
import type { RowSelection } from './row-selection';
import { Announcement, useFocusReturn } from './selected-row';
import { type Shortcut, useShortcuts } from './shortcuts';
import type { Sorting } from './sorting';
import { ErrorState } from './states';

export interface Column<Row> extends NamedColumn {
  key: string;
  cell(row: Row): ReactNode;
  /** The table width from which the column is shown: 576, 768, 896 or 1152 pixels. Always shown if absent. */
  from?: 'sm' | 'md' | 'lg' | 'xl';
  /** A CSS width. Columns without one share the remaining space. */
  width?: string;
}

// Container widths of the table itself, because a details panel makes it narrower.
const FROM = { sm: '@max-xl:hidden', md: '@max-3xl:hidden', lg: '@max-4xl:hidden', xl: '@max-6xl:hidden' };
const SKELETON_ROWS = Array.from({ length: 12 }, (_, n) => n);

interface DataTableProps<Row> {
  /** What the table lists, for screen readers. */
  caption: string;
  /** What a row is called, one and many. */
  noun?: Noun;
  /** How many rows there are in all. */
  total?: Total | undefined;
  sorting?: Sorting;
  columns: Column<Row>[];
  /** Undefined while the rows load. */
  rows: Row[] | undefined;
  rowKey(row: Row): string;
  /** Names a row for screen readers, so that no two rows and links sound alike. By default the words of its first cell. */
  rowName?: (row: Row) => string;
  /** The link of a row; its first cell becomes the link. */
  rowHref?: (row: Row) => string;
  selected?: string | null;
  /** Makes rows selectable. */
  onSelect?: (key: string) => void;
  /** Lets rows be chosen for one action on all of them: by checkbox, shift-click, or `x` on the selected row. */
  selection?: RowSelection;
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
  const { caption, columns, rows, rowKey, rowHref, selected, onSelect, selection, onOpen, onHover, error, empty } =
    props;
  const readSelected = props.readSelected ?? (() => selected);
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    if (selected) body.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  useFocusReturn(body, selected ?? null);
  const findPlace = (key: string | null | undefined) => rows?.findIndex((row) => rowKey(row) === key) ?? -1;
  /** Where the selected row is, or was when it left the list, for example because it was resolved. */
  const lastPlace = useRef(-1);
  useEffect(() => {
    const place = findPlace(selected);
    if (place >= 0 || !selected) lastPlace.current = place;
  });

  const step = (by: 1 | -1) => () => {
    if (!rows?.length || !onSelect) return;
    const at = findPlace(readSelected());
    const gap = lastPlace.current < 0 ? (by > 0 ? 0 : rows.length) : lastPlace.current;
    const next = at >= 0 ? at + by : by > 0 ? gap : gap - 1;
    if (next >= rows.length - 1 && props.hasMore) props.onLoadMore?.();
    const row = rows[Math.min(Math.max(next, 0), rows.length - 1)];
    if (row) onSelect(rowKey(row));
  };
  const open = () => {
    const current = readSelected();
    const row = rows?.find((candidate) => rowKey(candidate) === current);
    if (row) onOpen?.(row);
  };
  const chooseSelected = () => {
    const current = readSelected();
    if (current) selection?.toggle(current);
  };
  const moves: Shortcut[] = onSelect
    ? [
        { keys: 'j', name: 'Next row', mayRepeat: true, run: step(1) },
        { keys: 'k', name: 'Previous row', mayRepeat: true, run: step(-1) },
      ]
    : [];
  const opens: Shortcut[] = onOpen
    ? [
        { keys: 'o', name: 'Open', run: open },
        { keys: 'Enter', name: 'Open', run: open },
      ]
    : [];
  const chooses: Shortcut[] = selection
    ? [{ keys: 'x', name: 'Choose it, for an action on several', run: chooseSelected }]
    : [];
  useShortcuts(caption, [...moves, ...opens, ...chooses, ...(props.shortcuts ?? [])]);

  if (error && !rows?.length) return <ErrorState message={error} onRetry={props.onRetry} />;
  if (rows?.length === 0 && !props.hasMore) return <div className="rounded border border-line bg-surface">{empty}</div>;
  /** Whose cell is a button where no row has a link: the first one that narrow screens show. */
  const named = columns.findIndex(({ from }) => !from);
  const place = (column: Column<Row>) => joinClasses(column.from && FROM[column.from], column.isNumber && 'text-right');
  return (
    <div className="rounded border border-line bg-surface">
      <div
        // A scrollable area must be reachable by keyboard: through what is in it, or by its own tab stop.
        tabIndex={rowHref || (onSelect && rows?.length) ? undefined : 0}
        className="@container overflow-x-auto rounded lg:overflow-x-clip"
      >
        {onSelect && <Announcement {...props} body={body} />}
        <table className="w-full border-separate border-spacing-0" aria-busy={rows === undefined}>
          <caption className="sr-only">{caption}</caption>
          <thead>
            <tr>
              {selection && (
                <th className="sticky top-0 z-10 w-8 border-b bg-surface">
                  <span className="sr-only">Chosen</span>
                </th>
              )}
              {columns.map((column) => (
                <th
                  key={column.key}
                  scope="col"
                  aria-sort={findDirection(column, props.sorting)}
                  style={{ width: column.width }}
                  className={joinClasses(
                    'sticky top-0 z-10 h-8 whitespace-nowrap border-b bg-surface px-2 text-left @lg:px-3 font-medium text-muted text-xs',
                    place(column),
                  )}
                >
                  <ColumnName column={column} sorting={props.sorting} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody ref={body}>
            {rows?.map((row, at) => {
              const key = rowKey(row);
              return (
                <tr
                  key={key}
                  data-row={key}
                  aria-current={key === selected ? 'true' : undefined}
                  onClick={
                    onSelect && ((event) => (event.shiftKey && selection ? selection.toggle(key, true) : onSelect(key)))
                  }
                  onPointerEnter={onHover && (() => onHover(row))}
                  className={joinClasses(
                    'scroll-mt-8 hover:bg-sunken aria-[current]:bg-accent-soft',
                    onSelect && 'cursor-default',
                  )}
                >
                  {selection && (
                    <td className="h-9 border-line/60 border-b pl-3">
                      <input
                        type="checkbox"
                        aria-label={`Choose row ${at + 1}`}
                        checked={selection.chosen.has(key)}
                        onClick={(event) => event.stopPropagation()}
                        onChange={({ nativeEvent }) => selection.toggle(key, (nativeEvent as MouseEvent).shiftKey)}
                        className="block size-4 accent-accent"
                      />
                    </td>
                  )}
                  {columns.map((column, index) => (
                    <td
                      key={column.key}
                      className={joinClasses('h-9 border-line/60 border-b px-2 @lg:px-3', place(column))}
                    >
                      {index === named && onSelect && !rowHref ? (
                        <button
                          type="button"
                          aria-label={props.rowName?.(row)}
                          onClick={(event) => {
                            event.stopPropagation();
                            onSelect(key);
                          }}
                          className="block w-full cursor-default text-left"
                        >
                          {column.cell(row)}
                        </button>
                      ) : index === 0 && rowHref ? (
                        <Link
                          href={rowHref(row)}
                          prefetch={false}
                          aria-label={props.rowName?.(row)}
                          className="hover:underline"
                        >
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
            {rows === undefined &&
              SKELETON_ROWS.map((n) => <SkeletonRow key={n} {...{ columns, place }} canChoose={!!selection} />)}
          </tbody>
        </table>
      </div>
      {rows && <TableFoot {...props} />}
    </div>
  );
}

interface SkeletonProps<Row> {
  columns: Column<Row>[];
  place(column: Column<Row>): string;
  canChoose: boolean;
}

function SkeletonRow<Row>({ columns, place, canChoose }: SkeletonProps<Row>) {
  return (
    <tr>
      {canChoose && <td className="h-9 border-line/60 border-b" />}
      {columns.map((column) => (
        <td key={column.key} className={joinClasses('h-9 border-line/60 border-b px-2 @lg:px-3', place(column))}>
          <div className="skeleton inline-block h-3 w-3/4 align-middle" />
        </td>
      ))}
    </tr>
  );
}

function TableFoot<Row>(props: DataTableProps<Row>) {
  const { rows, error, onRetry, hasMore = false, isLoadingMore, onLoadMore, noun, total } = props;
  return (
    <div className="flex min-h-10 items-center justify-between gap-3 px-3 py-1 text-muted text-xs">
      <span role="status">{showProgress({ shown: rows?.length ?? 0, hasMore, total }, noun)}</span>
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
