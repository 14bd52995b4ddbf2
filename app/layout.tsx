import './globals.css';
import type { Metadata } from 'next';
import { cookies } from 'next/headers';
import type { ReactNode } from 'react';
import { readTheme, THEME_COOKIE } from './dashboard/theme';

export const metadata: Metadata = { title: { default: 'Bot Detection API', template: '%s · Bot Detection' } };

export default async function Layout({ children }: { children: ReactNode }) {
  // Read on the server, so that a page never flashes in the wrong theme.
  const theme = readTheme((await cookies()).get(THEME_COOKIE)?.value);
  return (
    <html lang="en" data-theme={theme}>
      <body>{children}</body>
    </html>
  );
}
