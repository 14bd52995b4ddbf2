'use client';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import type { AlertRuleDraft } from '../../../../contract/alert-rules';
import { Button, ButtonLink } from '../../components/button';
import { Field, Input, Select, Textarea } from '../../components/field';
import { FormFault } from '../../components/form-fault';
import { useLeaveQuestion } from '../../components/leave-question';
import { RoleNote } from '../../components/role-note';
import { useTRPC } from '../../queries';
import { describeError, findFault, findField } from '../../query-client';
import { useStaff } from '../../staff';
import { KNOWN_TYPES, SEVERITY_WORDS } from '../anomalies/anomaly-filters';
import { changeMetric, type RuleDraft, type TypedTime, toPreviewed, toRule } from './rule-draft';
import { RulePreview } from './rule-preview';
import {
  COMPARISON_WORDS,
  isRatio,
  METRIC_HINTS,
  METRIC_SCOPES,
  METRIC_WORDS,
  SCOPE_WORDS,
  UNITS,
  type Unit,
} from './rule-words';

const DEBOUNCE_MS = 300;

interface RuleFormProps {
  initial: RuleDraft;
  /** The label of the submit button: "Create rule". */
  act: string;
  cancelHref: string;
  isBusy: boolean;
  /** The error with which the server refused it. */
  error: unknown;
  onSubmit(rule: AlertRuleDraft): void;
}

/** Creates or edits a rule. While one types, the preview says when it would have fired, or what is wrong. */
export function RuleForm({ initial, act, cancelHref, isBusy, error, onSubmit }: RuleFormProps) {
  const { isAdmin } = useStaff();
  const form = useRef<HTMLFormElement>(null);
  useLeaveQuestion(form);
  const [draft, setDraft] = useState(initial);
  const preview = usePreview(draft);
  const set = (patch: Partial<RuleDraft>) => setDraft((before) => ({ ...before, ...patch }));
  const faultOf = (field: string) => findFault(preview.fault, field) ?? findFault(error, field);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit(toRule(draft));
  };
  const { metric, scopeKind } = draft;
  return (
    <div className="grid gap-4 lg:grid-cols-12 lg:items-start">
      <form ref={form} onSubmit={submit} noValidate className="rounded border border-line bg-surface p-4 lg:col-span-6">
        <fieldset disabled={!isAdmin} className="min-w-0 space-y-4">
          <Field label="Name" error={faultOf('name')}>
            <Input
              value={draft.name}
              placeholder="Bots in a quiz"
              autoComplete="off"
              onChange={({ target }) => set({ name: target.value })}
            />
          </Field>
          <Field label="Measure" hint={METRIC_HINTS[metric]} error={faultOf('metric')}>
            <Select
              value={metric}
              onChange={({ target }) => setDraft(changeMetric(draft, target.value as RuleDraft['metric']))}
            >
              <Options words={METRIC_WORDS} />
            </Select>
          </Field>
          {metric === 'anomalies' && (
            <Pair>
              <Field label="Type" hint="Empty: any" error={faultOf('anomalyType')}>
                <Input
                  value={draft.anomalyType}
                  list="anomaly-types"
                  autoComplete="off"
                  onChange={({ target }) => set({ anomalyType: target.value })}
                />
              </Field>
              <datalist id="anomaly-types">
                {KNOWN_TYPES.map((type) => (
                  <option key={type} value={type} />
                ))}
              </datalist>
              <Field label="Severity at least" error={faultOf('minSeverity')}>
                <Select
                  value={draft.minSeverity}
                  onChange={({ target }) => set({ minSeverity: target.value as RuleDraft['minSeverity'] })}
                >
                  <option value="">Any</option>
                  <Options words={SEVERITY_WORDS} />
                </Select>
              </Field>
            </Pair>
          )}
          <Pair>
            <Field label="Of" error={findField(preview.fault) === 'scope.kind' ? faultOf('scope') : null}>
              <Select
                value={scopeKind}
                onChange={({ target }) => set({ scopeKind: target.value as RuleDraft['scopeKind'] })}
              >
                {METRIC_SCOPES[metric].map((kind) => (
                  <option key={kind} value={kind}>
                    {SCOPE_WORDS[kind]}
                  </option>
                ))}
              </Select>
            </Field>
            {scopeKind !== 'integration' && (
              <Field label={scopeKind === 'origin' ? 'Origin' : `Id of the ${scopeKind}`} error={faultOf('scope')}>
                <Input
                  value={draft.scopeValue}
                  placeholder={scopeKind === 'origin' ? 'https://lms.example.edu' : undefined}
                  spellCheck={false}
                  autoComplete="off"
                  onChange={({ target }) => set({ scopeValue: target.value })}
                />
              </Field>
            )}
          </Pair>
          <Pair>
            <Field label="Is" error={faultOf('comparison')}>
              <Select
                value={draft.comparison}
                onChange={({ target }) => set({ comparison: target.value as RuleDraft['comparison'] })}
              >
                <Options words={COMPARISON_WORDS} />
              </Select>
            </Field>
            <Field label={metric === 'botShare' ? 'Percent' : 'Value'} error={faultOf('value')}>
              <Input
                inputMode="decimal"
                value={draft.value}
                autoComplete="off"
                onChange={({ target }) => set({ value: target.value })}
              />
            </Field>
          </Pair>
          {isRatio(metric) && (
            <Field
              label="If there are at least so many sessions"
              hint="One bot of one session would be 100 %."
              error={faultOf('minSessions')}
            >
              <Input
                inputMode="numeric"
                value={draft.minSessions}
                autoComplete="off"
                onChange={({ target }) => set({ minSessions: target.value })}
              />
            </Field>
          )}
          <Pair>
            <TimeFields
              label="Within"
              time={draft.window}
              error={faultOf('windowMinutes')}
              onChange={(window) => set({ window })}
            />
            <TimeFields
              label="Cool-down"
              hint="Empty: as long as the window"
              time={draft.coolDown}
              error={faultOf('coolDownMinutes')}
              onChange={(coolDown) => set({ coolDown })}
            />
          </Pair>
          <Field label="Severity" error={faultOf('severity')}>
            <Select
              value={draft.severity}
              onChange={({ target }) => set({ severity: target.value as RuleDraft['severity'] })}
            >
              <Options words={SEVERITY_WORDS} />
            </Select>
          </Field>
          <Field
            label="Message"
            hint="May contain {{value}}, {{threshold}}, {{window}}, {{scope}} and {{rule}}."
            error={faultOf('message')}
          >
            <Textarea value={draft.message} onChange={({ target }) => set({ message: target.value })} />
          </Field>
          <FormFault error={error} />
          {findFault(error, 'version') && (
            <p role="alert" className="text-danger">
              Somebody has changed the rule since. Reload the page.
            </p>
          )}
          <RoleNote needs="admin" act="change alert rules" />
          <div className="flex flex-wrap justify-end gap-2">
            <ButtonLink href={cancelHref}>Cancel</ButtonLink>
            <Button kind="primary" type="submit" disabled={isBusy || !isAdmin}>
              {act}
            </Button>
          </div>
        </fieldset>
      </form>
      <div className="min-w-0 lg:col-span-6">
        <RulePreview
          metric={metric}
          limit={Number(draft.value)}
          {...preview}
          isFaulty={findField(preview.fault) !== null}
        />
      </div>
    </div>
  );
}

const Pair = ({ children }: { children: ReactNode }) => (
  <div className="grid items-start gap-4 sm:grid-cols-2">{children}</div>
);

const Options = ({ words }: { words: Record<string, string> }) =>
  Object.entries(words).map(([value, name]) => (
    <option key={value} value={value}>
      {name}
    </option>
  ));

interface TimeFieldsProps {
  label: string;
  hint?: string;
  time: TypedTime;
  error: string | null;
  onChange(time: TypedTime): void;
}

/** A number and its unit. */
function TimeFields({ label, hint, time, error, onChange }: TimeFieldsProps) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_7rem] items-start gap-2">
      <Field label={label} hint={hint} error={error}>
        <Input
          inputMode="numeric"
          value={time.text}
          autoComplete="off"
          onChange={({ target }) => onChange({ ...time, text: target.value })}
        />
      </Field>
      <Field label="Unit">
        <Select
          aria-label={`${label}: unit`}
          value={time.unit}
          onChange={({ target }) => onChange({ ...time, unit: target.value as Unit })}
        >
          {Object.keys(UNITS).map((unit) => (
            <option key={unit}>{unit}</option>
          ))}
        </Select>
      </Field>
    </div>
  );
}

/** Asks the server for a preview once typing pauses. Keeps the last answer until the next arrives. */
function usePreview(draft: RuleDraft) {
  const wanted = JSON.stringify(toPreviewed(draft));
  const [asked, setAsked] = useState(wanted);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(wanted), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [wanted]);
  const query = useQuery(
    useTRPC().alertRules.preview.queryOptions(JSON.parse(asked), { placeholderData: (before) => before }),
  );
  const fault = query.error && findField(query.error) !== null ? query.error : null;
  return {
    preview: query.data,
    fault,
    error: query.error && !fault ? describeError(query.error) : null,
    onRetry: () => void query.refetch(),
    isOld: query.isPlaceholderData || wanted !== asked,
  };
}
