'use client';
import { useSearchParams } from 'next/navigation';
import { useCallback } from 'react';

export type UrlPatch = Record<string, string | null>;

/**
 * The page's query string as state, so that a shared link shows the same page. A value of null or '' removes a
 * parameter. `replace` adds no history entry (for a moving selection). No request to the server is made.
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

const SELECTED = 'selected';
const readSelected = () => new URLSearchParams(window.location.search).get(SELECTED);

/**
 * The selected row of a page's list, kept in the URL. Moving the selection adds no history entries. `selected` is the
 * rendered selection; `readSelected` reads the current one, which is ahead when keys are pressed quickly.
 */
export function useSelection() {
  const { params, change } = useUrlState();
  const select = useCallback((key: string | null) => change({ [SELECTED]: key }, { replace: true }), [change]);
  return { selected: params.get(SELECTED), select, readSelected };
}
