import { ButtonLink } from './button';
import { EmptyState } from './states';

/** Shown when something does not exist or belongs to another integration. */
export function NotFoundState() {
  return (
    <EmptyState title="Not found">
      <p>It does not exist, or it belongs to another integration.</p>
      <ButtonLink href="/dashboard">To the dashboard</ButtonLink>
    </EmptyState>
  );
}
