import { describeError } from '../query-client';
import { ErrorState, Skeleton } from './states';

interface PendingProps {
  query: { data?: unknown; error: unknown; refetch(): unknown };
  className: string;
}

/** Shown above data: the error with a retry button, or a placeholder of the same size while the data is missing. */
export function Pending({ query, className }: PendingProps) {
  if (!query.error) return query.data === undefined && <Skeleton className={className} />;
  return <ErrorState message={describeError(query.error)} onRetry={() => void query.refetch()} />;
}
