'use client';
import { useState } from 'react';
import type { Session, Verdict } from '../../../../contract/sessions';
import { RiskBadge } from '../../components/badge';
import { Button } from '../../components/button';
import { Dialog } from '../../components/dialog';
import { type VerdictDetails, VerdictDetailsForm } from './verdict-details';

/** A label whose reasons are asked for. */
export interface Explained {
  session: Session;
  verdict: Verdict;
  /** What the label says now. */
  details: VerdictDetails;
  save(details: VerdictDetails): void;
}

/** Number keys have chosen reasons already, so typing begins with the notes. A screen keyboard would cover the form. */
function focusNotes(form: HTMLFormElement | null) {
  if (window.matchMedia('(hover: hover)').matches) form?.querySelector('textarea')?.focus();
}

/** Asks why a session was labelled so. The label exists already, so closing loses only what was not saved here. */
export function VerdictDialog({ explained, onClose }: { explained: Explained; onClose(): void }) {
  const { session, verdict, save } = explained;
  const [details, setDetails] = useState(explained.details);
  const submit = () => {
    save(details);
    onClose();
  };
  return (
    <Dialog title={`Why? ${session.userName ?? 'Unmatched session'}`} isOpen onClose={onClose}>
      <form
        ref={focusNotes}
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
        <VerdictDetailsForm verdict={verdict} value={details} onChange={setDetails} />
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
