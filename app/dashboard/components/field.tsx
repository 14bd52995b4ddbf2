'use client';
import { type ComponentProps, createContext, type ReactNode, use, useId } from 'react';
import { joinClasses } from './classes';

const FieldIds = createContext<{ control: string; hint?: string; error?: string } | null>(null);

/** Labels a control. An error shows below the control and is announced with it. */
export function Field({
  label,
  hint,
  error,
  children,
}: {
  label: string;
  hint?: ReactNode;
  error?: string | null;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <FieldIds value={{ control: id, hint: hint ? `${id}-hint` : undefined, error: error ? `${id}-error` : undefined }}>
      <div className="flex min-w-0 flex-col gap-1">
        <label htmlFor={id} className="whitespace-pre-wrap font-medium text-muted text-xs">
          {label}
        </label>
        {children}
        {hint && (
          <p id={`${id}-hint`} className="text-faint text-xs">
            {hint}
          </p>
        )}
        {error && (
          <p id={`${id}-error`} role="alert" className="text-danger text-xs">
            {error}
          </p>
        )}
      </div>
    </FieldIds>
  );
}

function useControl() {
  const ids = use(FieldIds);
  if (!ids) return {};
  const describedBy = [ids.error, ids.hint].filter(Boolean).join(' ');
  return {
    id: ids.control,
    'aria-describedby': describedBy || undefined,
    'aria-invalid': ids.error ? true : undefined,
  };
}

// Has no width: a caller's class name replaces the default `w-full`.
const CONTROL =
  'h-8 min-w-0 rounded border border-line-strong bg-surface px-2 text-ink text-sm placeholder:text-faint aria-invalid:border-danger disabled:opacity-60';

export function Input({ className, ...rest }: ComponentProps<'input'>) {
  return <input {...useControl()} {...rest} className={joinClasses(CONTROL, className ?? 'w-full')} />;
}

export function Textarea({ className, ...rest }: ComponentProps<'textarea'>) {
  return (
    <textarea
      {...useControl()}
      {...rest}
      className={joinClasses(CONTROL, 'h-auto min-h-20 py-1.5', className ?? 'w-full')}
    />
  );
}

export function Select({ className, ...rest }: ComponentProps<'select'>) {
  return <select {...useControl()} {...rest} className={joinClasses(CONTROL, 'pr-1', className ?? 'w-full')} />;
}

/** A checkbox with its label next to it. */
export function Checkbox({ label, className, ...rest }: Omit<ComponentProps<'input'>, 'type'> & { label: ReactNode }) {
  return (
    <label className={joinClasses('inline-flex items-center gap-2', className)}>
      <input {...rest} type="checkbox" className="size-4 accent-accent" />
      {label}
    </label>
  );
}

/** A switch with its label next to it. It takes effect at once. */
export function Switch({
  label,
  className,
  ...rest
}: Omit<ComponentProps<'input'>, 'type' | 'role'> & { label: ReactNode }) {
  return (
    <label className={joinClasses('inline-flex items-center gap-2', className)}>
      <input
        {...rest}
        type="checkbox"
        // biome-ignore lint/a11y/useAriaPropsForRole: a checkbox already exposes its state
        role="switch"
        className="relative h-4 w-7 shrink-0 cursor-pointer appearance-none rounded-full bg-line-strong transition-colors before:absolute before:top-0.5 before:left-0.5 before:size-3 before:rounded-full before:bg-surface before:transition-transform checked:bg-accent checked:before:translate-x-3 disabled:opacity-50"
      />
      {label}
    </label>
  );
}
