import type { ReactNode } from 'react';

/** A number with its name above and a note below. */
export type Stat = [name: string, value: ReactNode, note: ReactNode];

/** Numbers side by side in one frame. */
export function StatStrip({ stats }: { stats: Stat[] }) {
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded border border-line bg-line sm:grid-cols-4 2xl:grid-cols-8">
      {stats.map(([name, value, note]) => (
        <div key={name} className="bg-surface px-4 py-3">
          <dt className="text-muted text-xs">{name}</dt>
          <dd>
            <span className="block font-semibold text-xl">{value}</span>
            <span className="block min-h-4 truncate text-faint text-xs">{note}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}
