'use client';
import './globals.css';

/**
 * Shown when the root layout itself failed. Next's own page brings a style element, which the Content-Security-Policy
 * refuses.
 */
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
