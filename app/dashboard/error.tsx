'use client';
import { useRouter } from 'next/navigation';
import { startTransition } from 'react';
import { ErrorState } from './components/states';

/** What stands in the place of a page that failed on the server. */
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
