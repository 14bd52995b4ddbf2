import { Skeleton } from '../components/states';

export default function Loading() {
  return (
    <div aria-busy="true">
      <Skeleton className="mb-4 h-7 w-40" />
      <Skeleton className="mb-4 h-24 w-full" />
      <Skeleton className="h-[60vh] w-full" />
    </div>
  );
}
