import type { ReactNode } from 'react';
import { joinClasses } from '../../../../components/classes';
import { showUtcInstant } from './evidence-words';

// How the report lays out what it says, on paper and on the screen.

export const NOT_KNOWN = <span className="text-faint">not known</span>;

/** Names and values in two columns on paper and on wide screens. A wide value has a line for itself. */
export function Values({ values }: { values: [name: string, value: ReactNode, isWide?: 'wide'][] }) {
  return (
    <dl className="grid grid-cols-1 gap-x-8 gap-y-1 sm:grid-cols-2 print:grid-cols-2">
      {values.map(([name, value, isWide]) => (
        <div
          key={name}
          className={joinClasses(
            'grid grid-cols-[6.5rem_minmax(0,1fr)] gap-2',
            isWide && 'sm:col-span-2 print:col-span-2',
          )}
          data-block
        >
          <dt className="text-muted">{name}</dt>
          <dd className="wrap-anywhere min-w-0">{value ?? NOT_KNOWN}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Table({ head, children }: { head: string[]; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
    <div tabIndex={0} className="overflow-x-auto print:overflow-visible">
      <table className="w-full border-collapse text-left align-top">
        <thead>
          <tr>
            {head.map((name) => (
              <th
                key={name}
                scope="col"
                className="border-line-strong border-b py-1 pr-3 font-medium text-muted text-xs"
              >
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

export function TableRow({ cells }: { cells: ReactNode[] }) {
  return (
    <tr>
      {cells.map((cell, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: cells have no other name
        <td key={index} className="wrap-anywhere border-line border-b py-1 pr-3 align-top">
          {cell}
        </td>
      ))}
    </tr>
  );
}

export const showTime = (at: string) => (
  <time key={at} dateTime={at} className="whitespace-nowrap">
    {showUtcInstant(at)}
  </time>
);

export const showUnbroken = (text: string) => (
  <span key={text} className="whitespace-nowrap">
    {text}
  </span>
);

export const More = ({ of, hasMore }: { of: string; hasMore: boolean }) =>
  hasMore && <p className="text-faint text-xs">There are more {of} than are listed here.</p>;
