import { ButtonLink } from './components/button';
import { EmptyState } from './components/states';

export default function NotFound() {
  return (
    <main>
      <EmptyState title="Not found">
        <p>It does not exist, or it belongs to another integration.</p>
        <ButtonLink href="/dashboard">To the dashboard</ButtonLink>
      </EmptyState>
    </main>
  );
}
