'use client';
import Link from 'next/link';
import { useEffect, useRef } from 'react';
import { joinClasses } from './classes';

/** Tabs as links, so that each has a URL. `current` is the key of the shown tab. */
export function Tabs({
  label,
  tabs,
  current,
}: {
  label: string;
  tabs: { key: string; name: string; href: string }[];
  current: string;
}) {
  const nav = useRef<HTMLElement>(null);
  // On a phone the row is wider than the page. `scrollIntoView` would scroll the page too.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the tab that is shown is found in the page
  useEffect(() => {
    const tab = nav.current?.querySelector<HTMLElement>('[aria-current]');
    if (nav.current && tab) nav.current.scrollLeft = tab.offsetLeft - nav.current.offsetLeft;
  }, [current]);
  return (
    <nav ref={nav} aria-label={label} className="flex gap-4 overflow-x-auto border-line border-b">
      {tabs.map(({ key, name, href }) => (
        <Link
          key={key}
          href={href}
          scroll={false}
          aria-current={key === current ? 'page' : undefined}
          className={joinClasses(
            '-mb-px whitespace-nowrap border-b-2 py-2 font-medium',
            key === current ? 'border-accent text-ink' : 'border-transparent text-muted hover:text-ink',
          )}
        >
          {name}
        </Link>
      ))}
    </nav>
  );
}
