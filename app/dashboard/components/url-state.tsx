'use client';
import { usePathname, useSearchParams } from 'next/navigation';
import {
  createContext,
  type ReactNode,
  use,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useTransition,
} from 'react';

export type UrlPatch = Record<string, string | null>;

interface UrlState {
  /** Reads the current query, which is ahead of the rendered one for a moment. */
  readQuery(): URLSearchParams;
  change(patch: UrlPatch, options?: { replace?: boolean }): void;
}

const UrlStates = createContext<UrlState | null>(null);

/**
 * Changes the page's query string. Next writes the address of what it renders, so the address can go back for a moment while
 * changes follow each other quickly. Therefore each change builds on the one before it, and not on the address, until all of
 * them are rendered.
 */
export function UrlStateProvider({ children }: { children: ReactNode }) {
  const [isPending, startTransition] = useTransition();
  /** The query that is not rendered yet. */
  const coming = useRef<string | null>(null);
  const readQuery = useCallback(() => new URLSearchParams(coming.current ?? window.location.search), []);
  const change = useCallback<UrlState['change']>(
    (patch, { replace = false } = {}) => {
      const next = readQuery();
      for (const [name, value] of Object.entries(patch)) {
        if (value) next.set(name, value);
        else next.delete(name);
      }
      const query = next.toString();
      coming.current = query;
      const address = query ? `${window.location.pathname}?${query}` : window.location.pathname;
      // Next renders the new address in this transition.
      startTransition(() => window.history[replace ? 'replaceState' : 'pushState'](null, '', address));
    },
    [readQuery],
  );
  // In the commit itself: a later effect could forget a change that came after it.
  useLayoutEffect(() => {
    if (!isPending) coming.current = null;
  }, [isPending]);
  useEffect(() => {
    const forget = () => {
      coming.current = null;
    };
    window.addEventListener('popstate', forget);
    return () => window.removeEventListener('popstate', forget);
  }, []);
  return <UrlStates value={useMemo(() => ({ readQuery, change }), [readQuery, change])}>{children}</UrlStates>;
}

/**
 * The page's query string as state, so that a shared link shows the same page. A value of null or '' removes a
 * parameter. `replace` adds no history entry (for a moving selection). No request to the server is made.
 */
export function useUrlState() {
  return { params: useSearchParams(), ...use(UrlStates)! };
}

/**
 * The selected row of a page's list, kept in the URL as `param`. Moving the selection adds no history entries. `selected` is the
 * rendered selection; `readSelected` reads the current one, which is ahead when keys are pressed quickly. `selectHere` does
 * nothing once another page is shown, for what can be done from there too.
 */
export function useSelection(param = 'selected') {
  const { params, readQuery, change } = useUrlState();
  const path = usePathname();
  const readSelected = useCallback(() => readQuery().get(param), [readQuery, param]);
  const select = useCallback(
    (key: string | null) => {
      if (key !== readSelected()) change({ [param]: key }, { replace: true });
    },
    [readSelected, change, param],
  );
  const selectHere = useCallback(
    (key: string) => {
      if (window.location.pathname === path) select(key);
    },
    [path, select],
  );
  return { selected: params.get(param), select, selectHere, readSelected };
}
