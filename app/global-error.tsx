'use client';
import './globals.css';

/** What stands in the place of everything where the frame itself failed. Next's own brings a style element, which the policy of pages refuses. */
export default function GlobalError() {
  return (
    <html lang="en">
      <body>
        <main className="mx-auto max-w-xl px-4 py-16 text-base">
          <title>Error</title>
          <h1 className="mb-2 font-semibold text-xl">This page could not be shown</h1>
          <p className="text-muted">The fault is on our side and has been logged. Reload to try again.</p>
        </main>
      </body>
    </html>
  );
}
