'use client';
import { useEffect, useRef, useState } from 'react';
import type { Session, Verdict } from '../../../../contract/sessions';
import type { VerdictReason } from '../../../../contract/verdicts';
import { RiskBadge } from '../../components/badge';
import { Button } from '../../components/button';
import { Dialog } from '../../components/dialog';
import { describeError } from '../../query-client';
import { type VerdictDetails, VerdictDetailsForm } from './verdict-details';

/** A label whose reasons are asked for. */
export interface Explained {
  session: Session;
  verdict: Verdict;
  /** What the label says now, without its reasons. */
  details: VerdictDetails;
  readReasons(): Promise<VerdictReason[]>;
  /** Returns whether it is on its way. */
  save(details: VerdictDetails): boolean;
}

/**
 * Asks why a session was labelled so. The label exists already, so closing loses only what was not saved here. The form opens at
 * once, so that nothing that is typed meets the page behind it, and reads the reasons then. Saved before, it leaves them as they are.
 */
export function VerdictDialog({ explained, onClose }: { explained: Explained; onClose(): void }) {
  const { session, verdict, save, readReasons } = explained;
  const [details, setDetails] = useState(explained.details);
  const [error, setError] = useState<string | null>(null);
  const form = useRef<HTMLFormElement>(null);
  // Number keys have chosen reasons already, so typing begins with the notes. A screen keyboard would cover the form.
  useEffect(() => {
    if (window.matchMedia('(hover: hover)').matches) form.current?.querySelector('textarea')?.focus();
  }, []);
  useEffect(() => {
    readReasons().then(
      (reasons) => setDetails((now) => ({ ...now, reasons })),
      (cause) => setError(describeError(cause)),
    );
  }, [readReasons]);
  const submit = () => {
    if (save(details)) onClose();
  };
  return (
    <Dialog title={`Why? ${session.userName ?? 'Unmatched session'}`} isOpen onClose={onClose}>
      <form
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          submit();
        }}
        className="space-y-4"
      >
        <p className="flex items-center gap-2">
          Labelled <RiskBadge level={verdict} />
        </p>
        {error && (
          <p role="alert" className="text-danger">
            {`The reasons could not be read, and stay as they are. ${error}`}
          </p>
        )}
        <VerdictDetailsForm
          verdict={verdict}
          value={details}
          onChange={(changed) => setDetails((now) => ({ ...now, ...changed }))}
          areReasonsUnknown={details.reasons === undefined}
        />
        <div className="flex items-center justify-end gap-2">
          <span className="mr-auto text-faint text-xs max-sm:hidden">Ctrl or ⌘ and Enter saves</span>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit">
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
