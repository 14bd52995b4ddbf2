'use client';
import Link from 'next/link';
import { Button } from '../../components/button';
import { CircleAlert } from '../../components/icons';
import { nameSignIn } from '../../query-client';
import { describeUnsaved, type UnsavedVerdict } from './unsaved-verdicts';

interface TrayProps {
  unsaved: readonly UnsavedVerdict[];
  /** The integration's path. */
  base: string;
  /** With `isForced`, it also replaces a label that somebody has set since. */
  onRetry(entry: UnsavedVerdict, isForced: boolean): void;
  onDiscard(entry: UnsavedVerdict): void;
}

/** Shows what was not saved, with the session's name, until it is sent again or discarded. */
export function UnsavedTray({ unsaved, base, onRetry, onDiscard }: TrayProps) {
  const shown = unsaved.filter(({ state }) => state !== 'Sending');
  const isSignedOut = shown.some(({ state }) => state === 'SignedOut');
  return (
    <section
      aria-label="Verdicts that are not saved"
      aria-live="assertive"
      className="fixed top-16 right-4 z-40 w-96 max-w-[calc(100vw-2rem)] lg:top-4"
    >
      {shown.length > 0 && (
        <div className="max-h-[60dvh] overflow-y-auto rounded border border-danger/40 bg-surface">
          <div className="flex items-center gap-2 border-b bg-danger-soft px-3 py-2">
            <CircleAlert size={16} className="shrink-0 text-danger" aria-hidden />
            <p className="min-w-0 flex-1 font-medium">
              {shown.length === 1 ? '1 verdict is not saved' : `${shown.length} verdicts are not saved`}
            </p>
            {isSignedOut && (
              <Button kind="primary" isSmall onClick={signInAgain}>
                Sign in and send
              </Button>
            )}
          </div>
          <ul className="divide-y">
            {shown.map((entry) => (
              <li key={entry.id} className="space-y-1 px-3 py-2">
                <Link
                  className="wrap-anywhere line-clamp-2 font-medium hover:underline"
                  href={`${base}/sessions/${encodeURIComponent(entry.sessionId)}`}
                >
                  {describeUnsaved(entry)}
                </Link>
                <p className="text-muted text-xs">{entry.message}</p>
                <div className="flex gap-2">
                  {canRetry(entry) && (
                    <Button isSmall onClick={() => onRetry(entry, entry.state === 'LabeledSince')}>
                      {entry.state === 'LabeledSince' ? 'Label anyway' : 'Try again'}
                    </Button>
                  )}
                  <Button isSmall kind="quiet" onClick={() => onDiscard(entry)}>
                    Discard
                  </Button>
                </div>
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

/** An undo names the label that it undoes, so it cannot be repeated once that label is gone. */
const canRetry = ({ state, change }: UnsavedVerdict) =>
  state === 'Failed' || (state === 'LabeledSince' && change.kind === 'set');

const signInAgain = () => window.location.assign(nameSignIn());
