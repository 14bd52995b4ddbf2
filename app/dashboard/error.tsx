'use client';
import { useRouter } from 'next/navigation';
import { startTransition } from 'react';
import { ErrorState } from './components/states';

/** Shown when a page failed on the server. */
export default function PageError({ reset }: { error: Error; reset(): void }) {
  const router = useRouter();
  const retry = () =>
    startTransition(() => {
      router.refresh();
      reset();
    });
  return (
    <div className="py-8">
      <ErrorState
        message="This page could not be shown. The fault is on our side and has been logged."
        onRetry={retry}
      />
    </div>
  );
}
