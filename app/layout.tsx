import type { Metadata } from 'next';
import type { ReactNode } from 'react';

export const metadata: Metadata = { title: 'Bot Detection API' };

export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <body
        style={{ font: '14px/1.5 system-ui, sans-serif', maxWidth: '40rem', margin: '4rem auto', padding: '0 1rem' }}
      >
        {children}
      </body>
    </html>
  );
}
