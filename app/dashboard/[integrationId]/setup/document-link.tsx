import Link from 'next/link';
import type { ReactNode } from 'react';

/** A link to a document of the product. */
export function DocumentLink({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Link href={`/docs/${name}`} prefetch={false} className="text-accent underline underline-offset-2">
      {children}
    </Link>
  );
}
