'use client';
import {
  createContext,
  type ReactNode,
  use,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { LETTER_KEYS_COOKIE } from '../letter-keys';
import { savePreference } from '../preference';
import { IconButton } from './button';
import { Dialog } from './dialog';
import { Switch } from './field';
import { Keyboard } from './icons';

const SEQUENCE_MS = 1_000;

export interface Shortcut {
  /** Values of `KeyboardEvent.key`; a space separates the keys of a sequence: `j`, `g s`, `?`. */
  keys: string;
  name: string;
  /** Whether it runs again and again while the key is held. For moves only: a key held too long must not label what comes next. */
  mayRepeat?: boolean;
  run(): void;
}
interface Group {
  name: string;
  shortcuts: Shortcut[];
}

const Registry = createContext<Set<{ current: Group }>>(new Set());
const ShowAll = createContext<() => void>(() => {});
const LetterKeys = createContext({ areOn: true, switchTo: (_areOn: boolean) => {} });

/** Registers shortcuts while the component is mounted. The latest registration of a key wins. */
export function useShortcuts(name: string, shortcuts: Shortcut[]) {
  const groups = use(Registry);
  const group = useRef<Group>({ name, shortcuts });
  // Before the page is painted, so that a key acts on what the page shows.
  useLayoutEffect(() => {
    group.current = { name, shortcuts };
  });
  useLayoutEffect(() => {
    groups.add(group);
    return () => void groups.delete(group);
  }, [groups]);
}

/** Shows words about shortcuts of one character only while they work. */
export const WithLetterKeys = ({ children }: { children: ReactNode }) => use(LetterKeys).areOn && children;

/**
 * Listens for the shortcuts of all descendants, and lists them on `?`. Shortcuts of one character (letters, digits, `/`, `?`)
 * can be switched off, as WCAG 2.1.4 asks: speech input types whole words of them by accident. Escape, Enter and arrows stay.
 */
export function ShortcutsProvider({ areLettersOn, children }: { areLettersOn: boolean; children: ReactNode }) {
  const [areOn, setOn] = useState(areLettersOn);
  const switchTo = useCallback((isOn: boolean) => {
    setOn(isOn);
    savePreference(LETTER_KEYS_COOKIE, isOn ? 'on' : 'off');
  }, []);
  const [groups] = useState(() => new Set<{ current: Group }>());
  const [shown, setShown] = useState<Group[] | null>(null);
  const showAll = useCallback(() => {
    setShown([...groups].map(({ current }) => current).filter(({ shortcuts }) => shortcuts.length > 0));
  }, [groups]);
  useEffect(() => {
    let pressed: { key: string; atMs: number } | null = null;
    const listen = (event: KeyboardEvent) => {
      if (!isForShortcuts(event)) return;
      if (!areOn && [...event.key].length === 1) return;
      if (event.key === '?') {
        event.preventDefault();
        return showAll();
      }
      const all = [...groups].reverse().flatMap(({ current }) => current.shortcuts);
      const before = pressed && event.timeStamp - pressed.atMs < SEQUENCE_MS ? `${pressed.key} ` : '';
      const find = (keys: string) => all.find((shortcut) => shortcut.keys === keys);
      const found = find(before + event.key) ?? find(event.key);
      pressed = found ? null : { key: event.key, atMs: event.timeStamp };
      if (!found) return;
      event.preventDefault();
      if (!event.repeat || found.mayRepeat) found.run();
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  }, [groups, showAll, areOn]);
  const letterKeys = useMemo(() => ({ areOn, switchTo }), [areOn, switchTo]);
  return (
    <Registry value={groups}>
      <LetterKeys value={letterKeys}>
        <ShowAll value={showAll}>{children}</ShowAll>
        <Dialog title="Keyboard shortcuts" isOpen={shown !== null} onClose={() => setShown(null)}>
          <div className="mb-4 space-y-1 border-b pb-3">
            <LetterKeysSwitch />
            <p className="text-muted text-xs">
              {areOn
                ? 'Speech input or a stray touch can press letters by accident: then switch them off.'
                : 'Letters, digits and signs do nothing now. Escape, Enter, arrows and keys with Ctrl or ⌘ still work.'}
            </p>
          </div>
          <div className="gap-x-8 sm:columns-2">
            {shown?.map(({ name, shortcuts }) => (
              <section key={name} className="mb-4 break-inside-avoid">
                <h3 className="mb-1 font-medium text-muted text-xs">{name}</h3>
                <dl>
                  {shortcuts.map(({ keys, name: act }) => (
                    <div key={keys} className="flex items-center justify-between gap-4 py-0.5">
                      <dt>{act}</dt>
                      <dd className="flex gap-1">
                        {keys.split(' ').map((key) => (
                          <Key key={key}>{key}</Key>
                        ))}
                      </dd>
                    </div>
                  ))}
                </dl>
              </section>
            ))}
          </div>
        </Dialog>
      </LetterKeys>
    </Registry>
  );
}

/** Switches shortcuts of one character on and off, in this browser. */
export function LetterKeysSwitch() {
  const { areOn, switchTo } = use(LetterKeys);
  return <Switch label="One-letter keys" checked={areOn} onChange={({ target }) => switchTo(target.checked)} />;
}

/** Opens the list of shortcuts, for people who do not know its key yet. */
export function ShortcutsButton() {
  const { areOn } = use(LetterKeys);
  return (
    <IconButton label={areOn ? 'Keyboard shortcuts (?)' : 'Keyboard shortcuts'} onClick={use(ShowAll)}>
      <Keyboard size={16} aria-hidden />
    </IconButton>
  );
}

/** A key as printed on a keyboard. */
export function Key({ children }: { children: string }) {
  return (
    <kbd className="inline-flex h-5 min-w-5 items-center justify-center whitespace-nowrap rounded border border-line-strong bg-sunken px-1 font-sans text-muted text-xs">
      {children}
    </kbd>
  );
}

const SIGN = /^[^\p{L}\p{N}]$/u;

/** Whether Alt helped to type a sign: `[` is AltGr and 8 on a German keyboard, which Windows tells as Ctrl and Alt, and Option and 5 on a Mac. */
const isTypedWithAlt = ({ altKey, key }: KeyboardEvent) => altKey && SIGN.test(key);

/** Excludes typing in a field, browser shortcuts, keys for a focused control, and everything while a modal is open. */
function isForShortcuts(event: KeyboardEvent): boolean {
  if (event.metaKey || event.defaultPrevented) return false;
  if ((event.ctrlKey || event.altKey) && !isTypedWithAlt(event)) return false;
  const target = event.target as HTMLElement;
  if (target.closest?.('input:not([type=checkbox]), textarea, select, [contenteditable]')) return false;
  if (event.key === 'Enter' && target.closest?.('a, button, summary')) return false;
  return document.querySelector('[data-modal]') === null;
}
