'use client';
import { useSearchParams } from 'next/navigation';
import { useCallback, useMemo } from 'react';

export type UrlPatch = Record<string, string | null>;

/**
 * The query of the page's address as its state, so that a link shows a colleague the same. A patch of null or '' removes;
 * `replace` leaves no step for the back button (a moving selection). No request to the server is made.
 */
export function useUrlState() {
  const params = useSearchParams();
  const change = useCallback((patch: UrlPatch, { replace = false } = {}) => {
    const next = new URLSearchParams(window.location.search);
    for (const [name, value] of Object.entries(patch)) {
      if (value) next.set(name, value);
      else next.delete(name);
    }
    const query = next.toString();
    const address = query ? `${window.location.pathname}?${query}` : window.location.pathname;
    window.history[replace ? 'replaceState' : 'pushState'](null, '', address);
  }, []);
  return { params, change };
}

export interface Selection {
  /** Of what is selected, as it is drawn. */
  key: string | null;
  /** The same at this very moment: keys may be struck faster than the page is drawn. */
  read(): string | null;
  select(key: string | null): void;
}

const SELECTED = 'selected';

/** What is selected in the list of a page, kept in its address. */
export function useSelection(): Selection {
  const { params, change } = useUrlState();
  const key = params.get(SELECTED);
  return useMemo(
    () => ({
      key,
      read: () => new URLSearchParams(window.location.search).get(SELECTED),
      select: (next) => change({ [SELECTED]: next }, { replace: true }),
    }),
    [key, change],
  );
}
