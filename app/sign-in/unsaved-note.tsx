'use client';
import { useEffect, useState } from 'react';
import {
  describeSending,
  describeUnsaved,
  readAllUnsaved,
  type UnsavedVerdict,
} from '../dashboard/[integrationId]/sessions/unsaved-verdicts';

const MAX_NAMED = 5;

/** Says which verdicts the tab kept when the session expired, and which of them the sign-in sends. */
export function UnsavedNote() {
  const [kept, setKept] = useState<UnsavedVerdict[]>([]);
  useEffect(() => setKept(readAllUnsaved(window.sessionStorage)), []);
  if (kept.length === 0) return null;
  return (
    <div role="status" className="mb-5 rounded border border-line-strong bg-surface p-3">
      <p className="font-medium">
        {kept.length === 1 ? '1 verdict is kept in this tab' : `${kept.length} verdicts are kept in this tab`}
      </p>
      <p className="text-muted">Your session has expired. {describeSending(kept)}</p>
      <ul className="wrap-anywhere mt-1 list-disc pl-5">
        {kept.slice(0, MAX_NAMED).map((one) => (
          <li key={one.id}>{describeUnsaved(one)}</li>
        ))}
        {kept.length > MAX_NAMED && <li>and {kept.length - MAX_NAMED} more</li>}
      </ul>
    </div>
  );
}
