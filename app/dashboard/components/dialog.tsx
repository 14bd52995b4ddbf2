'use client';
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type SyntheticEvent,
  useCallback,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { createPortal } from 'react-dom';
import { describeError } from '../query-client';
import { holdsTypedText } from '../typed-text';
import { Button, IconButton } from './button';
import { joinClasses } from './classes';
import { CloseGuardContext } from './close-guard';
import { Field, Input } from './field';
import { X } from './icons';
import { SignedOutNotice } from './signed-out-notice';

const BOX =
  'overflow-y-auto overscroll-contain border border-line bg-surface text-ink outline-none transition-opacity backdrop:bg-backdrop starting:opacity-0';
const AT_TOP = 'mx-auto mt-[8dvh] max-h-[84dvh] w-[min(38rem,calc(100vw-1.5rem))] rounded p-4';
const CENTERED = 'm-auto max-h-[calc(100dvh-2rem)] w-[min(32rem,calc(100vw-2rem))] rounded p-5';
const FULL = 'h-dvh max-h-none w-screen max-w-none p-4';
const LEFT = 'h-dvh max-h-none w-64 max-w-[85vw] border-y-0 border-l-0 p-3';

interface DialogProps {
  title: string;
  isOpen: boolean;
  /** Keeps its upper edge in place while its content changes. */
  isAtTop?: boolean;
  onClose(): void;
  children: ReactNode;
}

/**
 * A modal dialog. It traps the focus, and restores it. It closes on Escape unless its content objects, or somebody has typed there: then its
 * buttons close it.
 */
export function Dialog(props: DialogProps) {
  return <Modal {...props} place={props.isAtTop ? AT_TOP : CENTERED} />;
}

interface SheetProps extends DialogProps {
  side?: 'full' | 'left';
  /** False if the list behind it takes the focus back itself. */
  returnsFocus?: boolean;
}

/** A dialog that covers a narrow screen. The shortcuts of the list behind it stay active. */
export function Sheet({ side = 'full', ...rest }: SheetProps) {
  return <Modal {...rest} isSheet place={side === 'full' ? FULL : LEFT} />;
}

interface ModalProps extends DialogProps {
  place: string;
  isSheet?: boolean;
  returnsFocus?: boolean;
}

function Modal(props: ModalProps) {
  return props.isOpen ? <OpenModal {...props} /> : null;
}

function OpenModal({ title, isOpen: _, onClose, children, ...rest }: ModalProps) {
  const id = useId();
  const isGuarded = useRef(false);
  const [refusals, setRefusals] = useState(0);
  const { keptCount, keepsText } = useKeptText();
  const guard = useCallback((isOn: boolean) => {
    isGuarded.current = isOn;
    setRefusals(0);
  }, []);
  const close = () => {
    if (isGuarded.current) setRefusals((count) => count + 1);
    else onClose();
  };
  const dismiss = (dialog: HTMLDialogElement) => {
    if (isGuarded.current || !keepsText(dialog)) close();
  };
  const closeGuard = useMemo(() => ({ guard, refusals, close: onClose }), [guard, refusals, onClose]);
  return (
    <NativeDialog {...rest} labelledBy={id} onDismiss={dismiss} onClosed={onClose}>
      <div className="mb-3 flex items-center justify-between gap-4">
        <h2 id={id} className="min-w-0 truncate font-semibold text-lg" title={title}>
          {title}
        </h2>
        <IconButton label="Close" onClick={close}>
          <X size={16} aria-hidden />
        </IconButton>
      </div>
      <TextNotices keptCount={keptCount} />
      <CloseGuardContext value={closeGuard}>{children}</CloseGuardContext>
    </NativeDialog>
  );
}

/** Keeps a dialog open that has text that somebody has typed. `keptCount`: how often it has. */
function useKeptText() {
  const [keptCount, setKeptCount] = useState(0);
  const keepsText = (dialog: HTMLDialogElement): boolean => {
    const isKept = holdsTypedText(dialog);
    if (isKept) setKeptCount((count) => count + 1);
    return isKept;
  };
  return { keptCount, keepsText };
}

/** Says why a dialog or its page stays: because of typed text. */
const TextNotices = ({ keptCount }: { keptCount: number }) => (
  <>
    <SignedOutNotice />
    {keptCount > 0 && (
      // A new element each time, so that each time is announced.
      <p key={keptCount} ref={showElement} role="alert" className="mb-3 text-danger">
        Not closed: what you have typed is not saved. Save it, or cancel.
      </p>
    )}
  </>
);

const showElement = (element: Element | null) => element?.scrollIntoView({ block: 'nearest' });

interface NativeDialogProps {
  role?: 'alertdialog';
  labelledBy: string;
  describedBy?: string;
  /** Its classes for size and position. */
  place: string;
  isSheet?: boolean;
  returnsFocus?: boolean;
  /** Someone wants to close it: by Escape, by the system's back gesture or, unless it is an alert, by a click outside. */
  onDismiss(dialog: HTMLDialogElement): void;
  /** The browser has closed it without asking. */
  onClosed(): void;
  children: ReactNode;
}

/** A modal `<dialog>`, open as long as it is mounted. The browser keeps the focus inside and the page behind it inert. */
function NativeDialog(props: NativeDialogProps) {
  const { role, labelledBy, describedBy, place, isSheet, returnsFocus = true } = props;
  const { onDismiss, onClosed, children } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const isPressedOutside = useRef(false);
  useLayoutEffect(() => {
    const { current } = dialog;
    const root = document.documentElement;
    root.style.setProperty('--scroll-bar-room', window.innerWidth > root.clientWidth ? 'stable' : 'auto');
    current?.showModal();
    // Closing gives the focus back to the element that had it. React calls this while that element can still take it.
    return () => {
      if (returnsFocus) current?.close();
    };
  }, [returnsFocus]);

  const dismiss = (event: SyntheticEvent) => {
    event.preventDefault();
    if (dialog.current) onDismiss(dialog.current);
  };
  // Escape is handled here and not as a `cancel`: browsers let a page refuse that only once in a row.
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && !event.defaultPrevented && !event.nativeEvent.isComposing) dismiss(event);
  };
  const isOutside = ({ target, currentTarget, clientX: x, clientY: y }: MouseEvent) => {
    const { left, right, top, bottom } = currentTarget.getBoundingClientRect();
    return target === currentTarget && (x < left || x > right || y < top || y > bottom);
  };
  return createPortal(
    <dialog
      ref={dialog}
      role={role}
      // It takes the focus when its text is clicked, and so receives the keys.
      tabIndex={-1}
      aria-labelledby={labelledBy}
      aria-describedby={describedBy}
      data-modal={isSheet ? undefined : ''}
      className={joinClasses(BOX, place)}
      onKeyDown={press}
      onCancel={dismiss}
      // The event comes late: React's strict mode has opened it again by then.
      onClose={({ currentTarget }) => currentTarget.open || onClosed()}
      onPointerDown={(event) => {
        isPressedOutside.current = isOutside(event);
      }}
      onClick={(event) => {
        if (role !== 'alertdialog' && isPressedOutside.current && isOutside(event)) onDismiss(event.currentTarget);
      }}
    >
      {children}
    </dialog>,
    document.body,
  );
}

interface ConfirmProps {
  title: string;
  /** What will happen, in a sentence. */
  consequence: ReactNode;
  /** The label of the confirm button: "Delete webhook". */
  act: string;
  /** `plain` for an action that loses nothing. */
  kind?: 'danger' | 'plain';
  /** What must be typed before, so that nobody confirms it by habit. */
  typed?: string;
  isOpen: boolean;
  onClose(): void;
  /** Runs the action. The dialog closes on success and shows the error otherwise. Until then nobody can cancel it. */
  onConfirm(): Promise<unknown>;
}

/** Asks for confirmation before an action that cannot be undone, and says what it will do. */
export function ConfirmDialog(props: ConfirmProps) {
  return props.isOpen ? <OpenConfirm {...props} /> : null;
}

function OpenConfirm(props: ConfirmProps) {
  const { title, consequence, act, kind = 'danger', typed, onClose, onConfirm } = props;
  const id = useId();
  const [text, setText] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const { keptCount, keepsText } = useKeptText();
  const confirm = async () => {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      onClose();
    } catch (cause) {
      setError(describeError(cause));
    } finally {
      setBusy(false);
    }
  };
  return (
    <NativeDialog
      role="alertdialog"
      labelledBy={`${id}-title`}
      describedBy={`${id}-text`}
      place={CENTERED}
      onDismiss={(dialog) => isBusy || keepsText(dialog) || onClose()}
      onClosed={onClose}
    >
      <h2 id={`${id}-title`} className="mb-2 font-semibold text-lg">
        {title}
      </h2>
      <TextNotices keptCount={keptCount} />
      <div id={`${id}-text`} className="text-muted">
        {consequence}
      </div>
      {typed !== undefined && (
        <div className="mt-3">
          <Field label={`Type “${typed}” to confirm`}>
            <Input value={text} autoComplete="off" onChange={({ target }) => setText(target.value)} />
          </Field>
        </div>
      )}
      {error && (
        <p role="alert" className="mt-3 text-danger">
          {error}
        </p>
      )}
      <div className="mt-5 flex justify-end gap-2">
        <Button disabled={isBusy} onClick={onClose}>
          Cancel
        </Button>
        <Button
          kind={kind === 'danger' ? 'danger' : 'primary'}
          disabled={isBusy || (typed !== undefined && text !== typed)}
          onClick={confirm}
        >
          {act}
        </Button>
      </div>
    </NativeDialog>
  );
}
