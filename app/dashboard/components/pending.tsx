import { describeError } from '../query-client';
import { ErrorState, Skeleton } from './states';

/** What stands where something has not come: why, with another try, or its place kept. */
export function Pending({ query, className }: { query: { error: unknown; refetch(): unknown }; className: string }) {
  if (!query.error) return <Skeleton className={className} />;
  return <ErrorState message={describeError(query.error)} onRetry={() => void query.refetch()} />;
}
