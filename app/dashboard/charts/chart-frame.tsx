'use client';
import { type ReactNode, useState } from 'react';
import { IconButton } from '../components/button';
import { ChartColumn, Table2 } from '../components/icons';

export interface ChartTable {
  columns: string[];
  rows: ReactNode[][];
}

interface ChartFrameProps {
  title: string;
  /** The chart in one sentence, for screen readers. */
  summary: string;
  /** The same numbers as a table. */
  table: ChartTable;
  /** The chart's controls. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A chart with its title, a summary in words, and its table behind a toggle. */
export function ChartFrame({ title, summary, table, actions, children }: ChartFrameProps) {
  const [isTable, setTable] = useState(false);
  return (
    <section className="min-w-0 rounded border border-line bg-surface">
      <div className="flex min-h-10 flex-wrap items-center justify-between gap-2 border-b py-1 pr-2 pl-4 max-sm:py-2">
        <h2 className="font-semibold">{title}</h2>
        <div className="flex flex-wrap items-center gap-2">
          {actions}
          <IconButton
            label={isTable ? `Show ${title} as a chart` : `Show ${title} as a table`}
            onClick={() => setTable(!isTable)}
          >
            {isTable ? <ChartColumn size={16} aria-hidden /> : <Table2 size={16} aria-hidden />}
          </IconButton>
        </div>
      </div>
      <div className="p-4">
        {isTable ? (
          <NumbersTable title={title} table={table} />
        ) : (
          <figure aria-label={title}>
            <figcaption className="sr-only">{summary}</figcaption>
            {children}
          </figure>
        )}
      </div>
    </section>
  );
}

function NumbersTable({ title, table }: { title: string; table: ChartTable }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
    <section tabIndex={0} aria-label={`${title}, table`} className="max-h-80 overflow-auto">
      <table className="w-full">
        <caption className="sr-only">{title}</caption>
        <thead>
          <tr className="text-muted text-xs">
            {table.columns.map((name, index) => (
              <th
                key={name}
                scope="col"
                className={index === 0 ? 'py-1 text-left font-medium' : 'py-1 text-right font-medium'}
              >
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of a chart have no other key
            <tr key={at} className="border-line border-t">
              {row.map((cell, index) => (
                <td key={table.columns[index]} className={index === 0 ? 'py-1' : 'py-1 text-right'}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** The colours of a chart with their names. */
export function Legend({ items }: { items: { name: string; color: string }[] }) {
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 text-muted text-xs">
      {items.map(({ name, color }) => (
        <li key={name} className="flex items-center gap-1.5">
          <span className="size-2.5 rounded-[2px]" style={{ background: color }} aria-hidden />
          {name}
        </li>
      ))}
    </ul>
  );
}
