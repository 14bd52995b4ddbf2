import type { Metadata } from 'next';
import { InvitationForm } from './invitation-form';

export const metadata: Metadata = { title: 'Invitation', referrer: 'no-referrer', robots: { index: false } };
// The page depends on nothing that the server knows. It is still made for each request, with a nonce and without a cache.
export const dynamic = 'force-dynamic';

/** Opened with a link from an admin. The token is in the fragment, which only the browser sees. */
export default function Invitation() {
  return (
    <main className="flex min-h-dvh items-center justify-center p-4">
      <div className="w-full max-w-sm">
        <InvitationForm />
      </div>
    </main>
  );
}
