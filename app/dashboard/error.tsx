'use client';
import { ErrorState } from './components/states';

export default function PageError({ reset }: { error: Error; reset(): void }) {
  return (
    <div className="py-8">
      <ErrorState
        message="This page could not be shown. The fault is on our side and has been logged."
        onRetry={reset}
      />
    </div>
  );
}
