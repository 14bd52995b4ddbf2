'use client';
import { useEffect, useState } from 'react';
import { describeUnsaved, readAllUnsaved } from '../dashboard/[integrationId]/sessions/unsaved-verdicts';

const MAX_NAMED = 5;

/** Says which verdicts the tab kept when the session expired, and that the sign-in sends them. */
export function UnsavedNote() {
  const [names, setNames] = useState<string[]>([]);
  useEffect(() => setNames(readAllUnsaved(window.sessionStorage).map(describeUnsaved)), []);
  if (names.length === 0) return null;
  return (
    <div role="status" className="mb-5 rounded border border-line-strong bg-surface p-3">
      <p className="font-medium">
        {names.length === 1 ? '1 verdict is kept in this tab' : `${names.length} verdicts are kept in this tab`}
      </p>
      <p className="text-muted">
        Your session has expired. {names.length === 1 ? 'It is' : 'They are'} sent when the same account signs in again.
      </p>
      <ul className="wrap-anywhere mt-1 list-disc pl-5">
        {names.slice(0, MAX_NAMED).map((name, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes
          <li key={index}>{name}</li>
        ))}
        {names.length > MAX_NAMED && <li>and {names.length - MAX_NAMED} more</li>}
      </ul>
    </div>
  );
}
