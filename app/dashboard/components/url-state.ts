'use client';
import { useSearchParams } from 'next/navigation';
import { useCallback, useEffect } from 'react';

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

/**
 * The selection that is not rendered yet. Next writes the address of what it renders, so the address can go back for a moment
 * while keys are pressed quickly, and a step would be lost.
 */
let coming: { key: string | null } | null = null;
const readSelected = () => (coming ? coming.key : new URLSearchParams(window.location.search).get(SELECTED));

/**
 * The selected row of a page's list, kept in the URL. Moving the selection adds no history entries. `selected` is the
 * rendered selection; `readSelected` reads the current one, which is ahead when keys are pressed quickly.
 */
export function useSelection() {
  const { params, change } = useUrlState();
  const selected = params.get(SELECTED);
  const select = useCallback(
    (key: string | null) => {
      if (key === readSelected()) return;
      coming = { key };
      change({ [SELECTED]: key }, { replace: true });
    },
    [change],
  );
  useEffect(() => {
    if (coming?.key === selected) coming = null;
  }, [selected]);
  useEffect(() => {
    const forget = () => {
      coming = null;
    };
    window.addEventListener('popstate', forget);
    return () => {
      forget();
      window.removeEventListener('popstate', forget);
    };
  }, []);
  return { selected, select, readSelected };
}
