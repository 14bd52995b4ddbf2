'use client';
import { createContext, type ReactNode, use, useCallback, useEffect, useState } from 'react';
import { Button, IconButton } from './button';
import { X } from './icons';

const SHOWN_MS = 7_000;
const MAX_SHOWN = 3;

interface Toast {
  id: number;
  text: string;
  isError?: boolean;
  /** Undoes what the notification reports. */
  undo?: () => void;
}
type Show = (toast: Omit<Toast, 'id'>) => void;

const Toasts = createContext<Show>(() => {});
let lastId = 0;

/** Returns the function that shows a notification. */
export const useToast = () => use(Toasts);

/** Shows notifications at the edge of the page for some seconds. */
export function ToastProvider({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<Toast[]>([]);
  const show = useCallback<Show>((toast) => {
    lastId += 1;
    const id = lastId;
    setToasts((shown) => [...shown, { ...toast, id }].slice(-MAX_SHOWN));
  }, []);
  const drop = useCallback((id: number) => setToasts((shown) => shown.filter((toast) => toast.id !== id)), []);
  return (
    <Toasts value={show}>
      {children}
      <section
        aria-label="Notifications"
        aria-live="polite"
        className="fixed right-4 bottom-4 z-50 flex w-80 max-w-[calc(100vw-2rem)] flex-col gap-2"
      >
        {toasts.map((toast) => (
          <ToastCard key={toast.id} toast={toast} onDrop={drop} />
        ))}
      </section>
    </Toasts>
  );
}

function ToastCard({ toast, onDrop }: { toast: Toast; onDrop(id: number): void }) {
  const [isPaused, setPaused] = useState(false);
  const { id, text, isError, undo } = toast;
  useEffect(() => {
    if (isPaused) return;
    const timer = setTimeout(() => onDrop(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isPaused, id, onDrop]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering only keeps it visible
    <div
      onPointerEnter={() => setPaused(true)}
      onPointerLeave={() => setPaused(false)}
      onFocus={() => setPaused(true)}
      onBlur={() => setPaused(false)}
      className="flex items-center gap-2 rounded border border-line-strong bg-surface py-1.5 pr-1.5 pl-3"
    >
      <span className={isError ? 'min-w-0 flex-1 text-danger' : 'min-w-0 flex-1'}>{text}</span>
      {undo && (
        <Button
          kind="quiet"
          className="text-accent"
          onClick={() => {
            undo();
            onDrop(id);
          }}
        >
          Undo
        </Button>
      )}
      <IconButton label="Dismiss" onClick={() => onDrop(id)}>
        <X size={14} aria-hidden />
      </IconButton>
    </div>
  );
}
