'use client';
import { type ReactNode, useId } from 'react';

/** A tooltip that shows when `children` are hovered or focused. */
export function Tooltip({ hint, children }: { hint: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <span className="group relative inline-flex">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a hint must be reachable without a pointer */}
      <span aria-describedby={id} tabIndex={0} className="inline-flex cursor-help rounded">
        {children}
      </span>
      <span
        id={id}
        role="tooltip"
        className="pointer-events-none invisible absolute bottom-full left-1/2 z-40 mb-1 w-max max-w-64 -translate-x-1/2 rounded border border-line-strong bg-surface px-2 py-1 font-normal text-ink text-xs opacity-0 transition-opacity group-focus-within:visible group-focus-within:opacity-100 group-hover:visible group-hover:opacity-100"
      >
        {hint}
      </span>
    </span>
  );
}
