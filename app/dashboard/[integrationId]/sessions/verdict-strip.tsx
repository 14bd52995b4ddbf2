'use client';
import { useEffect, useState } from 'react';
import type { Verdict } from '../../../../contract/sessions';
import type { VerdictReason } from '../../../../contract/verdicts';
import { Button, IconButton } from '../../components/button';
import { X } from '../../components/icons';
import { Key, useShortcuts } from '../../components/shortcuts';
import { Chip } from './verdict-details';
import { REASON_WORDS, REASONS } from './verdict-words';

const SHOWN_MS = 12_000;
/** Keeps a row that is scrolled into view above the strip. */
const SCROLL_PADDING = '9rem';

/** A verdict that was just given. */
export interface LastVerdict {
  id: string;
  sessionName: string;
  verdict: Verdict;
  reasons: VerdictReason[];
  setReasons(reasons: VerdictReason[]): void;
  explain(): void;
  undo(): void;
}

/**
 * Offers reasons for the verdict that was just given. It takes no focus and blocks nothing: the label stands even if no further key
 * is pressed.
 */
export function VerdictStrip({ last, onClose }: { last: LastVerdict; onClose(): void }) {
  const [isPaused, setPaused] = useState(false);
  const { verdict, reasons, setReasons } = last;
  const toggle = (reason: VerdictReason) =>
    setReasons(reasons.includes(reason) ? reasons.filter((one) => one !== reason) : [...reasons, reason]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each reason begins the time again
  useEffect(() => {
    if (isPaused) return;
    const timer = setTimeout(onClose, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isPaused, onClose, reasons]);
  useEffect(() => {
    const { style } = document.documentElement;
    style.scrollPaddingBottom = SCROLL_PADDING;
    return () => {
      style.scrollPaddingBottom = '';
    };
  }, []);
  useShortcuts('The verdict just given', [
    ...REASONS[verdict].map((reason, index) => ({
      ...{ keys: `${index + 1}`, name: `Reason: ${REASON_WORDS[reason]}` },
      run: () => toggle(reason),
    })),
    { keys: 'r', name: 'Reason in a form', run: last.explain },
  ]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering only keeps it visible
    <div
      onPointerEnter={() => setPaused(true)}
      onPointerLeave={() => setPaused(false)}
      onFocus={() => setPaused(true)}
      onBlur={() => setPaused(false)}
      className="max-h-[calc(100dvh-5rem)] overflow-y-auto rounded border border-line-strong bg-surface px-3 py-2"
    >
      <div className="flex items-center gap-2">
        <p className="min-w-0 flex-1 truncate">
          Labelled {verdict}: {last.sessionName}
        </p>
        <Button isSmall kind="quiet" className="text-accent" onClick={last.undo}>
          Undo
        </Button>
        <IconButton label="Close reasons" onClick={onClose}>
          <X size={14} aria-hidden />
        </IconButton>
      </div>
      <fieldset className="flex flex-wrap items-center gap-1.5">
        <legend className="sr-only">Why? The number keys choose a reason.</legend>
        {REASONS[verdict].map((reason, index) => (
          <Chip key={reason} isPressed={reasons.includes(reason)} onPress={() => toggle(reason)}>
            <span className="max-sm:hidden" aria-hidden>
              <Key>{`${index + 1}`}</Key>
            </span>
            {REASON_WORDS[reason]}
          </Chip>
        ))}
        <Button isSmall kind="quiet" className="h-7" onClick={last.explain}>
          <span className="max-sm:hidden" aria-hidden>
            <Key>r</Key>
          </span>
          Notes and confidence …
        </Button>
      </fieldset>
    </div>
  );
}
