'use client';
import { type ComponentProps, useEffect, useRef } from 'react';

/** The field of the search. It takes the focus as soon as it is there. */
export function PaletteField(props: ComponentProps<'input'>) {
  const field = useRef<HTMLInputElement>(null);
  // An effect runs after the dialog around it is shown; nothing in it can take the focus before.
  useEffect(() => field.current?.focus(), []);
  return (
    <input
      ref={field}
      role="combobox"
      aria-label="Search everything"
      aria-expanded={false}
      aria-autocomplete="list"
      autoComplete="off"
      spellCheck={false}
      maxLength={200}
      placeholder="Name, email, id, course, device, webhook, page …"
      className="h-10 w-full rounded border border-line-strong bg-surface px-3 text-base text-ink placeholder:text-faint"
      {...props}
    />
  );
}
