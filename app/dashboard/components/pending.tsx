import { describeError } from '../query-client';
import { ErrorState, Skeleton } from './states';

/** Shown while data is missing: the error with a retry button, or a placeholder of the same size. */
export function Pending({ query, className }: { query: { error: unknown; refetch(): unknown }; className: string }) {
  if (!query.error) return <Skeleton className={className} />;
  return <ErrorState message={describeError(query.error)} onRetry={() => void query.refetch()} />;
}
