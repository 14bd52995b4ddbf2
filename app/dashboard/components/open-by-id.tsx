'use client';
import { useRouter } from 'next/navigation';
import type { FormEvent } from 'react';
import { Button } from './button';
import { Input } from './field';

/** Opens a detail page by exact id. `base` is the path of the list; `/` focuses the field. */
export function OpenById({ label, base }: { label: string; base: string }) {
  const router = useRouter();
  const open = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const id = String(new FormData(event.currentTarget).get('id')).trim();
    if (id) router.push(`${base}/${encodeURIComponent(id)}`);
  };
  return (
    <form onSubmit={open} className="flex min-w-0 gap-2">
      <Input
        name="id"
        data-search
        type="search"
        aria-label={label}
        placeholder={`${label}  /`}
        className="w-44"
        autoComplete="off"
      />
      <Button type="submit">Open</Button>
    </form>
  );
}
