'use client';
import Link, { useLinkStatus } from 'next/link';
import { type ComponentProps, useState } from 'react';

/** A link that prefetches its page, with its content, on hover or focus. */
export function HoverLink({ children, ...rest }: ComponentProps<typeof Link>) {
  const [isNear, setNear] = useState(false);
  const come = () => setNear(true);
  return (
    <Link {...rest} prefetch={isNear} onPointerEnter={come} onFocus={come}>
      {children}
      <Pending />
    </Link>
  );
}

/** Shows that a page is loading, after 200 ms. */
function Pending() {
  return useLinkStatus().pending && <span aria-hidden className="skeleton ml-1 inline-block size-1.5 bg-accent" />;
}
