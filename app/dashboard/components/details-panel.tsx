'use client';
import { type ReactNode, useSyncExternalStore } from 'react';
import { IconButton } from './button';
import { Sheet } from './dialog';
import { X } from './icons';

const WIDE = '(min-width: 1280px)';

function subscribe(onChange: () => void) {
  const query = window.matchMedia(WIDE);
  query.addEventListener('change', onChange);
  return () => query.removeEventListener('change', onChange);
}

/** Whether there is room for a panel next to the table. The server assumes that there is. */
const useWideScreen = () =>
  useSyncExternalStore(
    subscribe,
    () => window.matchMedia(WIDE).matches,
    () => true,
  );

/** A list with the details of its selected row next to it. */
export function ListWithDetails({ list, details }: { list: ReactNode; details: ReactNode }) {
  return (
    <div className="flex items-start gap-4">
      <div className="min-w-0 flex-1">{list}</div>
      {details}
    </div>
  );
}

/** The details of the selected row: next to the list if there is room, otherwise over the whole screen. */
export function DetailsPanel({ title, onClose, children }: { title: string; onClose(): void; children: ReactNode }) {
  const isWide = useWideScreen();
  if (!isWide)
    return (
      // The table gives the focus to the row: nothing had it when the row was tapped.
      <Sheet title={title} isOpen returnsFocus={false} onClose={onClose}>
        {children}
      </Sheet>
    );
  return (
    <aside
      aria-label={title}
      className="sticky top-4 max-h-[calc(100dvh-2rem)] w-96 shrink-0 overflow-y-auto rounded border border-line bg-surface p-4 max-xl:hidden"
    >
      <div className="mb-3 flex items-center justify-between gap-2">
        <h2 className="min-w-0 truncate font-semibold text-base" title={title}>
          {title}
        </h2>
        <IconButton label="Close details" onClick={onClose}>
          <X size={16} aria-hidden />
        </IconButton>
      </div>
      {children}
    </aside>
  );
}

/** Names and values, one pair per line. */
export function Facts({ facts }: { facts: [name: string, value: ReactNode][] }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 break-words [&_time]:whitespace-normal">
            {value ?? <span className="text-faint">–</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
