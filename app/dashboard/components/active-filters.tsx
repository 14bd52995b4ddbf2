import type { ReactNode } from 'react';
import { X } from './icons';

interface ActiveFiltersProps {
  filters: { param: string; name: string; value: string | null }[];
  onRemove(param: string): void;
  /** Shown after the last chip. */
  children?: ReactNode;
}

/** The active filters as chips. A click removes one. HTML cannot hold U+0000, so the browser would find another text than React. */
export function ActiveFilters({ filters, onRemove, children }: ActiveFiltersProps) {
  if (filters.length === 0) return null;
  return (
    <ul className="flex flex-wrap items-center gap-1.5" aria-label="Active filters">
      {filters.map(({ param, name, value }) => (
        <li key={param}>
          <button
            type="button"
            onClick={() => onRemove(param)}
            className="inline-flex h-6 max-w-full items-center gap-1 rounded bg-accent-soft px-2 text-accent text-xs hover:bg-accent/20"
          >
            <span className="truncate">
              {name}: {value?.replaceAll('\0', '\ufffd')}
            </span>
            <X size={12} aria-label="remove" className="shrink-0" />
          </button>
        </li>
      ))}
      {children && <li>{children}</li>}
    </ul>
  );
}
