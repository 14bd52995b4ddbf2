'use client';
import type { ReactNode } from 'react';
import type { Confidence, Verdict } from '../../../../contract/sessions';
import type { VerdictReason } from '../../../../contract/verdicts';
import { joinClasses } from '../../components/classes';
import { Field, Textarea } from '../../components/field';
import { Check } from '../../components/icons';
import { CONFIDENCE_WORDS, REASON_WORDS, REASONS } from './verdict-words';

/** What can follow a verdict. What is absent stays as it is; null removes it. */
export interface VerdictDetails {
  confidence?: Confidence | null;
  reasons?: VerdictReason[];
  notes?: string | null;
}

const CONFIDENCES = Object.entries(CONFIDENCE_WORDS) as [Confidence, string][];
// As the API. Code points, which the browser does not count, may be fewer.
const MAX_NOTES_LENGTH = 1000;

interface FormProps {
  /** Decides which reasons are offered. */
  verdict: Verdict;
  value: VerdictDetails;
  /** The label has reasons that were not read yet, so none can be chosen. */
  areReasonsUnknown?: boolean;
  /** Gets what has changed alone: what else the caller has learnt since it was drawn must not be lost. */
  onChange(changed: VerdictDetails): void;
}

/** The controls for why a session was judged so, and how sure the reviewer is. The caller keeps the value and sends it. */
export function VerdictDetailsForm({ verdict, value, areReasonsUnknown, onChange }: FormProps) {
  const { confidence = null, reasons = [], notes } = value;
  const toggle = (reason: VerdictReason) =>
    onChange({ reasons: reasons.includes(reason) ? reasons.filter((one) => one !== reason) : [...reasons, reason] });
  // Reasons of another verdict are shown too, so that nothing is sent unseen.
  const offered = [...REASONS[verdict], ...reasons.filter((reason) => !REASONS[verdict].includes(reason))];
  return (
    <div className="space-y-4">
      <Choices legend="Reasons" isDisabled={areReasonsUnknown}>
        {offered.map((reason) => (
          <Chip key={reason} isPressed={reasons.includes(reason)} onPress={() => toggle(reason)}>
            {REASON_WORDS[reason]}
          </Chip>
        ))}
      </Choices>
      <Choices legend="How sure are you?">
        {CONFIDENCES.map(([one, name]) => (
          <Chip
            key={one}
            isPressed={confidence === one}
            onPress={() => onChange({ confidence: confidence === one ? null : one })}
          >
            {name}
          </Chip>
        ))}
      </Choices>
      <Field label="Notes" hint="Seen by staff, and by the customer over the API.">
        <Textarea
          maxLength={MAX_NOTES_LENGTH}
          value={notes ?? ''}
          onChange={({ target }) => onChange({ notes: target.value === '' ? null : target.value })}
        />
      </Field>
    </div>
  );
}

function Choices({ legend, isDisabled, children }: { legend: string; isDisabled?: boolean; children: ReactNode }) {
  return (
    <fieldset disabled={isDisabled} className="disabled:opacity-60">
      <legend className="mb-1 font-medium text-muted text-xs">{legend}</legend>
      <div className="flex flex-wrap gap-1.5">{children}</div>
    </fieldset>
  );
}

interface ChipProps {
  isPressed: boolean;
  onPress(): void;
  children: ReactNode;
}

/** A choice that is on or off. The check mark tells it apart without colour. */
export function Chip({ isPressed, onPress, children }: ChipProps) {
  return (
    <button
      type="button"
      aria-pressed={isPressed}
      onClick={onPress}
      className={joinClasses(
        'inline-flex h-7 items-center gap-1.5 rounded border px-2 text-xs',
        isPressed ? 'border-accent bg-accent-soft text-accent' : 'border-line-strong bg-surface hover:bg-sunken',
      )}
    >
      {isPressed && <Check size={12} aria-hidden />}
      {children}
    </button>
  );
}
