'use client';
import { useSyncExternalStore } from 'react';
import { nameSignIn, readAbsence, subscribeAbsence } from '../query-client';
import { useStaff } from '../staff';

/** Says that the page's account is signed out, on a page that stays because of typed text. */
export function SignedOutNotice() {
  const { staff } = useStaff();
  const absence = useSyncExternalStore(subscribeAbsence, readAbsence, () => null);
  if (absence === null) return null;
  const link = (words: string) => (
    <a className="text-accent underline" href={nameSignIn()} target="_blank" rel="noopener">
      {words}
    </a>
  );
  return (
    <p role="alert" className="wrap-anywhere mb-3 rounded border border-danger/40 bg-danger-soft px-3 py-2">
      {absence === 'SignedOut' ? (
        <>You are signed out. What you have typed stays here: {link('sign in in another tab')}, then go on.</>
      ) : (
        <>
          Another account is signed in now. What you have typed stays here: {link('open another tab')}, sign out there
          and in again as {staff.email}, then go on.
        </>
      )}
    </p>
  );
}
