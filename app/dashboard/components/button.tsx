import Link from 'next/link';
import type { ComponentProps } from 'react';
import { joinClasses } from './classes';

const KINDS = {
  primary: 'border-transparent bg-accent text-on-accent hover:bg-accent/90',
  plain: 'border-line-strong bg-surface text-ink hover:bg-sunken',
  quiet: 'border-transparent text-muted hover:bg-sunken hover:text-ink',
  danger: 'border-transparent bg-danger text-on-danger hover:bg-danger/90',
};
type Kind = keyof typeof KINDS;

const SIZES = { normal: 'h-8 px-3 text-sm', small: 'h-6 px-2 text-xs', icon: 'size-8' };

const look = (kind: Kind, size: keyof typeof SIZES, className?: string) =>
  joinClasses(
    'inline-flex shrink-0 items-center justify-center gap-2 whitespace-nowrap rounded border font-medium',
    'transition-colors disabled:pointer-events-none disabled:opacity-50 aria-disabled:pointer-events-none aria-disabled:opacity-50',
    SIZES[size],
    KINDS[kind],
    className,
  );

type ButtonProps = ComponentProps<'button'> & { kind?: Kind };

/** A button. `kind` sets its visual weight; `isSmall` is for buttons within a line. */
export function Button({
  kind = 'plain',
  isSmall,
  className,
  type = 'button',
  ...rest
}: ButtonProps & { isSmall?: boolean }) {
  return <button {...rest} type={type} className={look(kind, isSmall ? 'small' : 'normal', className)} />;
}

/** A square button with an icon; `label` is its accessible name. */
export function IconButton({
  kind = 'quiet',
  label,
  className,
  type = 'button',
  ...rest
}: ButtonProps & { label: string }) {
  return <button {...rest} type={type} aria-label={label} title={label} className={look(kind, 'icon', className)} />;
}

/** A link that looks like a button. */
export function ButtonLink({ kind = 'plain', className, ...rest }: ComponentProps<typeof Link> & { kind?: Kind }) {
  return <Link {...rest} className={look(kind, 'normal', className)} />;
}
