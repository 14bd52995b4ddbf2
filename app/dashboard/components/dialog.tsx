'use client';
import { AlertDialog } from '@base-ui/react/alert-dialog';
import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import { type ReactNode, type RefObject, useCallback, useMemo, useRef, useState } from 'react';
import { Button, IconButton } from './button';
import { joinClasses } from './classes';
import { CloseGuardContext } from './close-guard';
import { Field, Input } from './field';
import { X } from './icons';

const BACKDROP =
  'fixed inset-0 z-40 bg-backdrop transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0';
const POPUP =
  'fixed z-50 overflow-y-auto border border-line bg-surface text-ink transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0';
const AT_TOP = 'top-[8dvh] left-1/2 max-h-[84dvh] w-[min(38rem,calc(100vw-1.5rem))] -translate-x-1/2 rounded p-4';
const CENTERED =
  'top-1/2 left-1/2 max-h-[calc(100dvh-2rem)] w-[min(32rem,calc(100vw-2rem))] -translate-x-1/2 -translate-y-1/2 rounded p-5';

interface DialogProps {
  title: string;
  isOpen: boolean;
  /** Keeps its upper edge in place while its content changes. */
  isAtTop?: boolean;
  /** What has the focus first. */
  initialFocus?: RefObject<HTMLElement | null>;
  onClose(): void;
  children: ReactNode;
}

/** A modal dialog. It traps the focus, closes on Escape unless its content objects, and restores the focus. */
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
  return (
    <Modal
      {...rest}
      isSheet
      place={side === 'full' ? 'inset-0 p-4' : 'inset-y-0 left-0 w-64 max-w-[85vw] border-y-0 border-l-0 p-3'}
    />
  );
}

function Modal({
  title,
  isOpen,
  initialFocus,
  onClose,
  children,
  place,
  isSheet,
  returnsFocus = true,
}: DialogProps & { place: string; isSheet?: boolean; returnsFocus?: boolean }) {
  const isGuarded = useRef(false);
  const [refusals, setRefusals] = useState(0);
  const guard = useCallback((isOn: boolean) => {
    isGuarded.current = isOn;
    setRefusals(0);
  }, []);
  const change = (open: boolean) => {
    if (open) return;
    if (isGuarded.current) setRefusals((count) => count + 1);
    else onClose();
  };
  const closeGuard = useMemo(() => ({ guard, refusals, close: onClose }), [guard, refusals, onClose]);
  return (
    <BaseDialog.Root open={isOpen} onOpenChange={change}>
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={BACKDROP} />
        <BaseDialog.Popup
          data-modal={isSheet ? undefined : ''}
          initialFocus={initialFocus}
          finalFocus={returnsFocus ? undefined : false}
          className={joinClasses(POPUP, place)}
        >
          <div className="mb-3 flex items-center justify-between gap-4">
            <BaseDialog.Title className="min-w-0 truncate font-semibold text-lg">{title}</BaseDialog.Title>
            <BaseDialog.Close render={<IconButton label="Close" />}>
              <X size={16} aria-hidden />
            </BaseDialog.Close>
          </div>
          <CloseGuardContext value={closeGuard}>{children}</CloseGuardContext>
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
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
  /** Runs the action. The dialog closes on success and shows the error otherwise. */
  onConfirm(): Promise<unknown>;
}

/** Asks for confirmation before an action that cannot be undone, and says what it will do. */
export function ConfirmDialog(props: ConfirmProps) {
  const { title, consequence, act, kind = 'danger', typed, isOpen, onClose, onConfirm } = props;
  const [text, setText] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const confirm = async () => {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      close();
    } catch (cause) {
      setError(cause instanceof Error ? cause.message : 'It did not work');
    } finally {
      setBusy(false);
    }
  };
  const close = () => {
    setError(null);
    setText('');
    onClose();
  };
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={(open) => open || close()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className={BACKDROP} />
        <AlertDialog.Popup data-modal="" className={joinClasses(POPUP, CENTERED)}>
          <AlertDialog.Title className="mb-2 font-semibold text-lg">{title}</AlertDialog.Title>
          <AlertDialog.Description render={<div />} className="text-muted">
            {consequence}
          </AlertDialog.Description>
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
            <AlertDialog.Close render={<Button />}>Cancel</AlertDialog.Close>
            <Button
              kind={kind === 'danger' ? 'danger' : 'primary'}
              disabled={isBusy || (typed !== undefined && text !== typed)}
              onClick={confirm}
            >
              {act}
            </Button>
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
