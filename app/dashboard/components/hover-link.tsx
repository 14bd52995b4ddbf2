'use client';
import Link, { useLinkStatus } from 'next/link';
import { type ComponentProps, useState } from 'react';

/** A link whose page is fetched ahead, with its content, once the pointer or the focus is on it. */
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

/** Says that a page is on its way, if that takes more than 200 ms. */
function Pending() {
  return useLinkStatus().pending && <span aria-hidden className="skeleton ml-1 inline-block size-1.5 bg-accent" />;
}
