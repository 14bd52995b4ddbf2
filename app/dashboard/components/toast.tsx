'use client';
import { X } from 'lucide-react';
import { createContext, type ReactNode, use, useCallback, useEffect, useState } from 'react';
import { Button, IconButton } from './button';

const SHOWN_MS = 7_000;
const MAX_SHOWN = 3;

interface Toast {
  id: number;
  text: string;
  isError?: boolean;
  /** What takes it back. */
  undo?: () => void;
}
type Show = (toast: Omit<Toast, 'id'>) => void;

const Toasts = createContext<Show>(() => {});
let lastId = 0;

/** Answers how to say in passing what happened. */
export const useToast = () => use(Toasts);

/** Shows what happened at the edge of the page, for some seconds. */
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
  const [isHeld, setHeld] = useState(false);
  const { id, text, isError, undo } = toast;
  useEffect(() => {
    if (isHeld) return;
    const timer = setTimeout(() => onDrop(id), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isHeld, id, onDrop]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the pointer only keeps it from going away
    <div
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
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
