'use client';
import { createContext, type ReactNode, use, useCallback, useEffect, useState } from 'react';
import { IconButton } from '../../components/button';
import { Dialog } from '../../components/dialog';
import { Search } from '../../components/icons';
import { useLoadedPart } from '../../components/loaded-part';
import { Key, useShortcuts } from '../../components/shortcuts';
import { ErrorState } from '../../components/states';
import { PaletteField } from './palette-field';

/** Loaded when it is opened for the first time. What is typed meanwhile stays. */
const loadPalette = async () => (await import('./palette')).Palette;

const Open = createContext<() => void>(() => {});

/** Opens the search of everything on `/`, Ctrl+K and ⌘K, and for the buttons below it. */
export function PaletteProvider({ base, children }: { base: string; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false);
  const [text, setText] = useState('');
  const { part: Palette, hasFailed, retry } = useLoadedPart(loadPalette, isOpen);
  const open = useCallback(() => {
    setText('');
    setOpen(true);
  }, []);
  const close = useCallback(() => setOpen(false), []);
  useShortcuts('Everywhere', [
    { keys: '/', name: 'Search everything', run: open },
    // Listened for below, because it works while somebody types, too.
    { keys: 'Ctrl+K', name: 'Search everything (⌘K on a Mac)', run: open },
  ]);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      if (document.querySelector('[data-modal]')) return;
      event.preventDefault();
      open();
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, [open]);
  return (
    <Open value={open}>
      {children}
      <Dialog title="Search everything" isOpen={isOpen} isAtTop onClose={close}>
        {Palette ? (
          <Palette base={base} text={text} onText={setText} onClose={close} />
        ) : (
          <>
            <PaletteField value={text} onChange={({ target }) => setText(target.value)} />
            {hasFailed && (
              <ErrorState message="The search could not be loaded. Try again, or reload the page." onRetry={retry} />
            )}
          </>
        )}
      </Dialog>
    </Open>
  );
}

/** The search in the rail. */
export function SearchButton({ onOpen }: { onOpen?: () => void }) {
  const open = use(Open);
  return (
    <button
      type="button"
      onClick={() => {
        onOpen?.();
        open();
      }}
      className="flex h-8 w-full items-center gap-2 rounded border border-line-strong bg-surface px-2 text-left text-muted hover:bg-sunken hover:text-ink"
    >
      <Search size={16} aria-hidden />
      <span className="flex-1">Search</span>
      <span aria-hidden className="flex gap-1 max-lg:hidden">
        <Key>/</Key>
      </span>
    </button>
  );
}

/** The search in the bar of a narrow screen. */
export function SearchIconButton() {
  return (
    <IconButton label="Search everything" onClick={use(Open)} className="ml-auto">
      <Search size={18} aria-hidden />
    </IconButton>
  );
}
