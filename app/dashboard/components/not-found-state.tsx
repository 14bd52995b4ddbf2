import { ButtonLink } from './button';
import { EmptyState } from './states';

/** What stands in the place of something that is not there, or is somebody else's. */
export function NotFoundState() {
  return (
    <EmptyState title="Not found">
      <p>It does not exist, or it belongs to another integration.</p>
      <ButtonLink href="/dashboard">To the dashboard</ButtonLink>
    </EmptyState>
  );
}
