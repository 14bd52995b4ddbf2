import Link from 'next/link';
import { Fragment, type ReactNode } from 'react';

/** The title of a page, its subtitle and its actions. */
export function PageHeader({ title, about, children }: { title: ReactNode; about?: ReactNode; children?: ReactNode }) {
  return (
    <header className="mb-4 flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
      <div className="min-w-0">
        <h1 className="wrap-anywhere line-clamp-3 font-semibold text-xl">{title}</h1>
        {about && <p className="text-muted">{about}</p>}
      </div>
      {children && <div className="flex flex-wrap items-center gap-2">{children}</div>}
    </header>
  );
}

/** A framed section of a page. */
export function Section({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className="min-w-0 rounded border border-line bg-surface">
      <div className="flex min-h-10 flex-wrap items-center justify-between gap-2 border-b px-4 py-1">
        <h2 className="font-semibold text-sm">{title}</h2>
        {actions}
      </div>
      <div className="p-4">{children}</div>
    </section>
  );
}

/** The path to a page: its parent pages, then the page itself. */
export function Breadcrumb({ above, children }: { above: { name: ReactNode; href: string }[]; children: ReactNode }) {
  return (
    <nav aria-label="Breadcrumb" className="mb-1 text-muted text-xs">
      {above.map(({ name, href }) => (
        <Fragment key={href}>
          <Link href={href} className="hover:underline">
            {name}
          </Link>
          {' / '}
        </Fragment>
      ))}
      {children}
    </nav>
  );
}
