'use client';
import './browser-zod';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { EVENTS, type EventTypeName } from '../../../../contract/events';
import type { CreateWebhookInput } from '../../../../contract/webhooks';
import { Button, ButtonLink } from '../../components/button';
import { Field, Input, Select } from '../../components/field';
import { useLeaveQuestion } from '../../components/leave-question';
import { ErrorState } from '../../components/states';
import { useTRPC } from '../../queries';
import { describeError, findField } from '../../query-client';
import { useStaff } from '../../staff';
import { listFields, type ThresholdDraft, toThreshold } from './threshold-draft';
import { ThresholdEditor } from './threshold-editor';
import { ThresholdPreviewNote } from './threshold-preview';
import { findFaults } from './webhook-validation';

const DEBOUNCE_MS = 300;
const DEFAULT_THRESHOLD: ThresholdDraft = { field: '', operator: 'gte', kind: 'number', text: '' };

export interface WebhookDraft {
  url: string;
  eventType: EventTypeName;
  name: string;
  threshold: ThresholdDraft | null;
}
/** The initial values of a new subscription. */
export const EMPTY_DRAFT: WebhookDraft = { url: '', eventType: 'BotDetected', name: '', threshold: null };

/** A draft as the API takes it. An empty `name` is left out. */
export type WebhookFields = Pick<CreateWebhookInput, 'url' | 'eventType'> & {
  name: string | undefined;
  threshold: NonNullable<CreateWebhookInput['threshold']> | null;
};

interface WebhookFormProps {
  initial: WebhookDraft;
  /** The label of the submit button: "Create webhook". */
  act: string;
  cancelHref: string;
  isBusy: boolean;
  /** The error with which the server refused it. */
  error: unknown;
  /** Shown next to the button. */
  note?: ReactNode;
  /** `before` are the fields as they were when the form was opened. */
  onSubmit(fields: WebhookFields, before: WebhookFields): void;
}

/**
 * Creates or edits a subscription. Each field shows what the API would refuse; the preview shows what would be sent.
 */
export function WebhookForm({ initial, act, cancelHref, isBusy, error, note, onSubmit }: WebhookFormProps) {
  const { canWrite } = useStaff();
  const form = useRef<HTMLFormElement>(null);
  useLeaveQuestion(form);
  const [draft, setDraft] = useState(initial);
  const [before] = useState(() => toFields(initial));
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  /** The fields that were changed since the server refused them. */
  const [edited, setEdited] = useState<ReadonlySet<string>>(new Set());
  const fields = useMemo(() => toFields(draft), [draft]);
  const faults = useMemo(() => findFaults(fields), [fields]);

  const change = (patch: Partial<WebhookDraft>, field: string) => {
    setDraft((before) => ({ ...before, ...patch }));
    setEdited((before) => new Set([...before, field]));
  };
  const touch = (field: string) => setTouched((before) => new Set([...before, field]));
  const refused = findField(error);
  const isKnown = refused !== null && ['url', 'eventType', 'name', 'threshold'].includes(refused.split('.')[0] ?? '');
  const faultOf = (field: string) => {
    if (touched.has(field) && faults.has(field)) return faults.get(field) ?? null;
    return refused === field && !edited.has(field) ? describeError(error) : null;
  };

  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTouched(new Set(['url', 'eventType', 'name', 'threshold.field', 'threshold.operator', 'threshold.value']));
    if (faults.size > 0) return;
    setEdited(new Set());
    onSubmit(fields as WebhookFields, before as WebhookFields);
  };

  const isFaulty = [...faults.keys()].some((field) => field.startsWith('threshold'));
  const preview = usePreview(draft.eventType, fields.threshold, isFaulty);
  const paths = useMemo(
    () =>
      preview.data
        ? listFields([preview.data.sample, ...preview.data.events.map((event) => event.payload)])
        : new Map(),
    [preview.data],
  );
  return (
    <div className="grid gap-4 lg:grid-cols-12 lg:items-start">
      <form ref={form} onSubmit={submit} noValidate className="rounded border border-line bg-surface p-4 lg:col-span-5">
        <fieldset disabled={!canWrite} className="min-w-0 space-y-4">
          <Field label="URL" hint="http or https, port 80 or 443, a public address" error={faultOf('url')}>
            <Input
              type="url"
              value={draft.url}
              placeholder="https://example.com/hooks/bots"
              spellCheck={false}
              autoComplete="off"
              onChange={(event) => change({ url: event.target.value }, 'url')}
              onBlur={() => touch('url')}
            />
          </Field>
          <Field label="Event type" hint={EVENTS[draft.eventType].description} error={faultOf('eventType')}>
            <Select
              value={draft.eventType}
              onChange={(event) => change({ eventType: event.target.value as EventTypeName }, 'eventType')}
            >
              {Object.keys(EVENTS).map((name) => (
                <option key={name}>{name}</option>
              ))}
            </Select>
          </Field>
          <Field label="Name" error={faultOf('name')}>
            <Input
              value={draft.name}
              placeholder={draft.eventType}
              onChange={(event) => change({ name: event.target.value }, 'name')}
              onBlur={() => touch('name')}
            />
          </Field>
          <ThresholdEditor
            draft={draft.threshold}
            first={DEFAULT_THRESHOLD}
            fields={paths}
            faultOf={faultOf}
            onChange={(threshold, field) => {
              change({ threshold }, field);
              if (field) touch(field);
            }}
          />
          {error !== null && !(isKnown && refused) && <ErrorState message={describeError(error)} />}
          <div className="flex flex-wrap items-center justify-end gap-2">
            <div className="min-w-0 basis-full">
              {canWrite ? note : <span className="text-muted">Your role is viewer: you change nothing here.</span>}
            </div>
            <ButtonLink href={cancelHref}>Cancel</ButtonLink>
            <Button kind="primary" type="submit" disabled={isBusy || !canWrite}>
              {act}
            </Button>
          </div>
        </fieldset>
      </form>
      <div className="min-w-0 lg:col-span-7">
        <ThresholdPreviewNote
          {...preview}
          preview={preview.data}
          hasThreshold={draft.threshold !== null}
          isFaulty={isFaulty}
        />
      </div>
    </div>
  );
}

function toFields({ url, eventType, name, threshold }: WebhookDraft) {
  return { url, eventType, name: name === '' ? undefined : name, threshold: threshold && toThreshold(threshold) };
}

/** Asks the server for a preview once typing pauses. Keeps the last answer until the next arrives. */
function usePreview(eventType: EventTypeName, threshold: ReturnType<typeof toFields>['threshold'], isFaulty: boolean) {
  const wanted = isFaulty ? null : JSON.stringify({ eventType, threshold });
  const [asked, setAsked] = useState(JSON.stringify({ eventType, threshold }));
  useEffect(() => {
    if (wanted === null) return;
    const timer = setTimeout(() => setAsked(wanted), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [wanted]);
  const query = useQuery(
    useTRPC().webhooks.previewThreshold.queryOptions(JSON.parse(asked), { placeholderData: (before) => before }),
  );
  return {
    data: query.data,
    error: query.error && describeError(query.error),
    onRetry: () => void query.refetch(),
    isOld: query.isPlaceholderData || (wanted !== null && wanted !== asked),
  };
}
