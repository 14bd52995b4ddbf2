'use client';
import { useSyncExternalStore } from 'react';
import { nameSignIn, readSignedOut, subscribeSignedOut } from '../query-client';

/** Says that nobody is signed in any more, on a page that stays because of what was typed. */
export function SignedOutNotice() {
  const isShown = useSyncExternalStore(subscribeSignedOut, readSignedOut, () => false);
  if (!isShown) return null;
  return (
    <p role="alert" className="mb-3 rounded border border-danger/40 bg-danger-soft px-3 py-2">
      You are signed out. What you have typed stays here:{' '}
      <a className="text-accent underline" href={nameSignIn()} target="_blank" rel="noopener">
        sign in in another tab
      </a>
      , then go on.
    </p>
  );
}
