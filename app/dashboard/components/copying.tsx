'use client';
import { useEffect, useState } from 'react';
import { Button } from './button';
import { useCloseGuard } from './close-guard';
import { Check, Copy } from './icons';

const SHOWN_MS = 1_500;
const MAX_ID_LENGTH = 16;

/**
 * Writes text to the clipboard. Returns whether it did. On plain http away from localhost there is only the old command, which copies
 * what is selected. Nothing outside of an open dialog can be selected.
 */
async function writeClipboard(text: string): Promise<boolean> {
  if (window.isSecureContext)
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  const focused = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  (focused?.closest('dialog') ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}

/** Copies text, and says for a moment whether that worked. */
export function useCopy(text: string) {
  const [outcome, setOutcome] = useState<'Copied' | 'Not copied' | null>(null);
  useEffect(() => {
    if (!outcome) return;
    const timer = setTimeout(() => setOutcome(null), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = async () => {
    const isCopied = await writeClipboard(text);
    setOutcome(isCopied ? 'Copied' : 'Not copied');
    return isCopied;
  };
  return { outcome, copy };
}

/** Shortens an id in its middle, between characters: of half a one browser and server make different text. */
export function shortenId(id: string): string {
  const characters = [...id];
  if (characters.length <= MAX_ID_LENGTH) return id;
  return `${characters.slice(0, 8).join('')}…${characters.slice(-4).join('')}`;
}

/** An id, shortened in the middle. A click copies the whole id. */
export function ShortId({ id, name = 'id' }: { id: string; name?: string }) {
  const { outcome, copy } = useCopy(id);
  return (
    <button
      type="button"
      title={`${id}\nClick to copy`}
      className="inline-flex items-center gap-1 whitespace-nowrap rounded font-mono text-muted text-xs hover:text-ink"
      onClick={(event) => {
        event.stopPropagation();
        void copy();
      }}
    >
      {shortenId(id)}
      <span className="sr-only">, copy {name}</span>
      {outcome === 'Copied' && <Check size={12} className="text-human" aria-hidden />}
      <span role="status" className={outcome === 'Not copied' ? 'text-danger' : 'sr-only'}>
        {outcome}
      </span>
    </button>
  );
}

/** A button that copies text. */
export function CopyButton({
  text,
  children = 'Copy',
  onCopied,
}: {
  text: string;
  children?: string;
  onCopied?: () => void;
}) {
  const { outcome, copy } = useCopy(text);
  return (
    <Button onClick={() => copy().then((isCopied) => isCopied && onCopied?.())}>
      {outcome === 'Copied' ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
      <span aria-live="polite">{outcome ?? children}</span>
    </Button>
  );
}

/**
 * A secret that is shown only once. Until it is copied, or its reader says that they have stored it, the dialog around it
 * does not close and leaving the page asks first. `onCopied` runs when they say so; without it the dialog closes.
 */
export function SecretOnce({ name, secret, onCopied }: { name: string; secret: string; onCopied?: () => void }) {
  const [isSafe, setSafe] = useState(false);
  const [isStored, setStored] = useState(false);
  const dialog = useCloseGuard(secret !== '' && !isSafe);
  const store = () => {
    setSafe(true);
    setStored(true);
    (onCopied ?? dialog?.close)?.();
  };
  return (
    <div className="space-y-4">
      <div className="rounded border border-line-strong bg-sunken p-3">
        <p className="mb-2 font-medium">{name}: copy it now, it is not shown again.</p>
        <div className="flex flex-wrap items-center gap-2">
          <code className="min-w-0 flex-1 break-all font-mono text-xs">{secret}</code>
          <CopyButton text={secret} onCopied={() => setSafe(true)} />
        </div>
      </div>
      {!isSafe && dialog !== null && dialog.refusals > 0 && (
        // A new element each time, so that each refusal is announced.
        <p key={dialog.refusals} role="alert" className="text-danger">
          Not closed: it would be lost. Copy it first, or say that you have stored it.
        </p>
      )}
      {!isStored && (
        <div className="flex justify-end">
          <Button kind="primary" onClick={store}>
            I have stored it
          </Button>
        </div>
      )}
    </div>
  );
}

/**
 * Returns how a dialog closes that makes a secret and shows it once: not while it is made, because the secret would be shown to
 * nobody. Drops the last copy of it in the browser.
 */
export function createSecretClose(making: { isPending: boolean; reset(): void }, onClose: () => void): () => void {
  return () => {
    if (making.isPending) return;
    making.reset();
    onClose();
  };
}
