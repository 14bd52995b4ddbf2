'use client';
import Link from 'next/link';
import { type ComponentProps, useState } from 'react';

/** A link whose page is fetched ahead once the pointer or the focus is on it, rather than whenever it is in sight. */
export function HoverLink(props: ComponentProps<typeof Link>) {
  const [isNear, setNear] = useState(false);
  const come = () => setNear(true);
  return <Link {...props} prefetch={isNear ? null : false} onPointerEnter={come} onFocus={come} />;
}
