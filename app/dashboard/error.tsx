'use client';
import { useRouter } from 'next/navigation';
import { startTransition } from 'react';
import { ErrorState } from './components/states';

/** Shown when a page failed on the server, or its script could not be loaded: without a network, or from a newer version of the server. */
export default function PageError({ error, reset }: { error: Error; reset(): void }) {
  const router = useRouter();
  const isUnloaded = error.name === 'ChunkLoadError';
  const retry = () =>
    startTransition(() => {
      router.refresh();
      reset();
    });
  return (
    <div className="py-8">
      <ErrorState
        message={
          isUnloaded
            ? 'This page could not be loaded.'
            : 'This page could not be shown. The fault is on our side and has been logged.'
        }
        onRetry={isUnloaded ? () => window.location.reload() : retry}
      />
    </div>
  );
}
