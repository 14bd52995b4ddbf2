'use client';
import { useState } from 'react';
import { joinClasses } from './classes';
import { useCopy } from './copying';

/** Longer text may need more than the two lines that are shown at first. */
const CLAMPED_LENGTH = 100;
const MAX_TITLE_LENGTH = 1_000;

const BUTTON = 'min-h-6 text-accent underline-offset-2 hover:underline';

/** Text of any length that somebody else chose: it wraps, shows two lines at first, opens and can be copied. `name` says what it is. */
export function LongValue({ text, name, isCode }: { text: string; name: string; isCode?: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const { outcome, copy } = useCopy(text);
  const isLong = text.length > CLAMPED_LENGTH || text.includes('\n');
  return (
    <span className="block min-w-0">
      <span
        title={isOpen ? undefined : text.slice(0, MAX_TITLE_LENGTH)}
        className={joinClasses(
          'wrap-anywhere whitespace-pre-wrap',
          isOpen || !isLong ? 'block' : 'line-clamp-2',
          isCode && 'font-mono text-xs',
        )}
      >
        {text}
      </span>
      {isLong && (
        <span className="flex gap-3 text-xs">
          <button
            type="button"
            className={BUTTON}
            aria-expanded={isOpen}
            aria-label={`${isOpen ? 'Show less' : 'Show all'} of the ${name}`}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? 'Show less' : 'Show all'}
          </button>
          <button type="button" className={BUTTON} aria-label={`Copy the ${name}`} onClick={() => void copy()}>
            <span aria-live="polite">{outcome ?? 'Copy'}</span>
          </button>
        </span>
      )}
    </span>
  );
}
