'use client';
import { useCallback, useRef, useState } from 'react';

/** The rows that are chosen for one action on all of them. */
export interface RowSelection {
  chosen: ReadonlySet<string>;
  /** Chooses a row or leaves it out. `isRange`: also all rows up to the one that was toggled before. */
  toggle(key: string, isRange?: boolean): void;
  clear(): void;
}

/** Keeps which rows of a list are chosen. `keys` are those of the list, in its order. Rows that left the list are not chosen. */
export function useRowSelection(keys: readonly string[]): RowSelection {
  const [all, setAll] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string | null>(null);
  const toggle = (key: string, isRange = false) => {
    const [at, from] = [keys.indexOf(key), last.current === null ? -1 : keys.indexOf(last.current)];
    const toggled = isRange && at >= 0 && from >= 0 ? keys.slice(Math.min(at, from), Math.max(at, from) + 1) : [key];
    last.current = key;
    setAll((before) => {
      const isChosen = !before.has(key);
      const after = new Set(before);
      for (const one of toggled) {
        if (isChosen) after.add(one);
        else after.delete(one);
      }
      return after;
    });
  };
  const clear = useCallback(() => setAll(new Set()), []);
  return { chosen: new Set(keys.filter((key) => all.has(key))), toggle, clear };
}
