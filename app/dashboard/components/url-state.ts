'use client';
import { useSearchParams } from 'next/navigation';
import { useCallback } from 'react';

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

const SELECTED = 'selected';
const readSelected = () => new URLSearchParams(window.location.search).get(SELECTED);

/**
 * The selected row of a page's list, kept in its address; a moving selection leaves no steps for the back button.
 * `selected` is what is drawn, `readSelected` what holds at this very moment: keys may be struck faster.
 */
export function useSelection() {
  const { params, change } = useUrlState();
  const select = useCallback((key: string | null) => change({ [SELECTED]: key }, { replace: true }), [change]);
  return { selected: params.get(SELECTED), select, readSelected };
}
