'use client';
import type { ReactNode } from 'react';
import type { ListName } from '../../../contract/list-queries';
import type { ViewPage } from '../../../contract/saved-views';
import type { Total } from '../../../contract/totals';
import { CsvButton, type ListFilters } from './csv-button';
import { type Noun, showTotal } from './list-total';
import { SavedViews } from './saved-views';

interface ListToolsProps {
  list: ListName;
  noun: Noun;
  /** What the list's procedure is asked for. */
  filters: ListFilters;
  rows: unknown[] | undefined;
  hasMore: boolean;
  total: Total | undefined;
  /** The page, if it can be saved. */
  page?: ViewPage;
  /** What to know of the order. */
  note?: ReactNode;
  /** What has come since the list was read. */
  news?: ReactNode;
}

/** Above a list: how many rows it has, its saved views, and its file. */
export function ListTools({ list, noun, filters, rows, hasMore, total, page, note, news }: ListToolsProps) {
  return (
    <div className="mb-2 flex min-h-8 flex-wrap items-center gap-2">
      <p className="min-w-0 text-muted">
        <strong className="font-medium text-ink">
          {rows && showTotal({ shown: rows.length, hasMore, total }, noun)}
        </strong>
        {note && <span className="ml-2">{note}</span>}
      </p>
      {news}
      <div className="ml-auto flex min-w-0 flex-wrap items-center gap-2">
        {page && <SavedViews page={page} />}
        <CsvButton list={list} filters={filters} />
      </div>
    </div>
  );
}
