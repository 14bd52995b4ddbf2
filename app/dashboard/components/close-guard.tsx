'use client';
import { createContext, use, useEffect } from 'react';
import { askOnTraversal } from './leave-question';

/** What a dialog offers to content that must not be lost. */
export interface CloseGuard {
  /** Refuses to close the dialog until it is called with false. */
  guard(isGuarded: boolean): void;
  /** How often closing was refused. */
  refusals: number;
  close(): void;
}

const QUESTION = 'Leave this page? What it shows now is not shown again.';

/** The dialog around a component; null outside of one. */
export const CloseGuardContext = createContext<CloseGuard | null>(null);

/**
 * Keeps what is shown once from being lost: the dialog around it does not close, and leaving the page asks first, as long as
 * `isGuarded`. Returns the dialog; null outside of one.
 */
export function useCloseGuard(isGuarded: boolean): CloseGuard | null {
  const dialog = use(CloseGuardContext);
  const guard = dialog?.guard;
  useEffect(() => {
    if (!isGuarded) return;
    guard?.(true);
    // The browser shows its standard question.
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    const end = askOnTraversal(() => true, QUESTION);
    return () => {
      guard?.(false);
      end();
      window.removeEventListener('beforeunload', ask);
    };
  }, [guard, isGuarded]);
  return dialog;
}
