'use client';
import { useParams } from 'next/navigation';
import { useState } from 'react';
import type { ListName } from '../../../contract/list-queries';
import { Button } from './button';
import { Download } from './icons';
import { useToast } from './toast';

/** The values of a list's filters, under the names of its procedure. */
export type ListFilters = Record<string, string | number | undefined>;

/** Downloads what the list shows with its filters and its order. Asks first whether the server refuses it, and says why. */
export function CsvButton({ list, filters }: { list: ListName; filters: ListFilters }) {
  const { integrationId } = useParams<{ integrationId: string }>();
  const toast = useToast();
  const [isAsking, setAsking] = useState(false);
  const query = new URLSearchParams(
    Object.entries(filters).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  );
  const address = `/lists/${integrationId}/${list}.csv?${query}`;
  const download = async () => {
    setAsking(true);
    try {
      const { ok, status } = await fetch(address, { method: 'HEAD' });
      if (!ok) return toast({ text: REFUSALS[status] ?? 'The file could not be made.', isError: true });
      const link = document.createElement('a');
      link.href = address;
      link.download = '';
      link.click();
    } catch {
      toast({ text: 'The server could not be reached.', isError: true });
    } finally {
      setAsking(false);
    }
  };
  return (
    <Button onClick={download} disabled={isAsking} title="Download what is listed, as CSV">
      <Download size={14} aria-hidden />
      CSV
    </Button>
  );
}

const REFUSALS: Record<number, string> = {
  400: 'A filter has a value that the list does not take.',
  401: 'You are signed out. Sign in again.',
  429: 'Too many files are being written. Try again when one has ended.',
};
