import type { ReactNode } from 'react';
import { Button } from './button';
import { joinClasses } from './classes';
import { CircleAlert } from './icons';

/** Shown when a list is empty: says what will appear here and how to get it. */
export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="mx-auto flex max-w-xl flex-col gap-3 px-4 py-12">
      <h2 className="font-semibold text-base">{title}</h2>
      <div className="space-y-3 text-muted">{children}</div>
    </div>
  );
}

/** Shows an error and offers a retry. */
export function ErrorState({ message, onRetry }: { message: string; onRetry?: () => void }) {
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-3 rounded border border-danger/40 bg-danger-soft px-3 py-2"
    >
      <CircleAlert size={16} className="text-danger" aria-hidden />
      <span className="min-w-0 flex-1">{message}</span>
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}

/** A placeholder for loading content. It shows only after 200 ms. */
export function Skeleton({ className }: { className?: string }) {
  return <div aria-hidden className={joinClasses('skeleton', className)} />;
}

/** Code for copying. */
export function Code({ children }: { children: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
    <pre tabIndex={0} className="overflow-x-auto rounded border border-line bg-sunken p-3 font-mono text-ink text-xs">
      <code>{children}</code>
    </pre>
  );
}
