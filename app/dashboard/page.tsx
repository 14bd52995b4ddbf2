import { redirect } from 'next/navigation';
import { EmptyState } from './components/states';
import { createStaffCaller, requireStaff } from './staff-session';

/** Redirects to the first integration. */
export default async function Dashboard() {
  await requireStaff();
  const caller = await createStaffCaller(null);
  const [first] = await caller.integrations.list();
  if (first) redirect(`/dashboard/${encodeURIComponent(first.id)}/overview`);
  return (
    <main className="mx-auto max-w-xl">
      <EmptyState title="No integration yet">
        <p>
          An integration is one customer with their keys, sessions and webhooks. Make the first one on the command line:
        </p>
        <pre className="overflow-x-auto rounded border border-line bg-sunken p-3 font-mono text-ink text-xs">
          npm run -s admin -- integration create --name "Example University" --plan pro
        </pre>
      </EmptyState>
    </main>
  );
}
