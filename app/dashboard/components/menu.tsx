'use client';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { joinClasses } from './classes';

interface MenuProps {
  /** What the button does, for screen readers; read after its visible text. */
  label: string;
  button: ReactNode;
  /** Links and buttons styled with MENU_ITEM. A click on one with `data-stay` keeps the menu open. */
  children: ReactNode;
  buttonClassName?: string;
  /** Where the menu opens. */
  place?: 'below' | 'above';
  /** Opens to the left, for a button near the right edge. */
  isAtEnd?: boolean;
}

export const MENU_ITEM =
  'flex w-full items-center gap-2 rounded px-2 py-1.5 text-left text-ink text-sm hover:bg-sunken focus-visible:bg-sunken disabled:opacity-50';

/**
 * A button that opens a small menu of links and buttons. Arrow keys move in it; Escape or a click outside closes it.
 */
export function Menu({ label, button, children, buttonClassName, place = 'below', isAtEnd }: MenuProps) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const closeOutside = (event: Event) => root.current?.contains(event.target as Node) || setOpen(false);
    document.addEventListener('pointerdown', closeOutside);
    document.addEventListener('focusin', closeOutside);
    return () => {
      document.removeEventListener('pointerdown', closeOutside);
      document.removeEventListener('focusin', closeOutside);
    };
  }, [isOpen]);

  /** Gives the focus to the button, so that a dialog that an item opens can give it back. */
  const close = () => {
    root.current?.querySelector('button')?.focus();
    setOpen(false);
  };
  const move = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && isOpen) {
      event.stopPropagation();
      event.preventDefault(); // a dialog around it stays open
      close();
    }
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    setOpen(true);
    // If the menu was closed, React renders it first.
    requestAnimationFrame(() => {
      const items = [
        ...(root.current?.querySelectorAll<HTMLElement>('[data-menu] :is(a, button:not(:disabled))') ?? []),
      ];
      const at = items.indexOf(document.activeElement as HTMLElement);
      // From the button, an arrow up leads to the last item.
      items.at(at < 0 && step < 0 ? -1 : (at + step) % items.length)?.focus();
    });
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles keys for the button and its menu
    <div ref={root} className="relative" onKeyDown={move}>
      <button
        type="button"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
        className={buttonClassName}
      >
        {button}
        <span className="sr-only">, {label}</span>
      </button>
      {isOpen && (
        // biome-ignore lint/a11y/useKeyWithClickEvents: a key press on an item triggers its click
        // biome-ignore lint/a11y/noStaticElementInteractions: closes the menu after a click on an item
        <div
          id={id}
          data-menu
          onClick={(event) => (event.target as Element).closest('a, button:not([data-stay])') && close()}
          className={joinClasses(
            'absolute z-40 max-h-[60vh] w-max min-w-full max-w-72 in-[dialog]:max-w-56 overflow-y-auto rounded border border-line-strong bg-surface p-1',
            place === 'below' ? 'top-full mt-1' : 'bottom-full mb-1',
            isAtEnd ? 'right-0' : 'left-0',
          )}
        >
          {children}
        </div>
      )}
    </div>
  );
}
