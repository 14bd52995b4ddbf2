'use client';
import { useId } from 'react';
import { Checkbox, Field, Input, Select, Textarea } from '../../components/field';
import { isNumeric, OPERATOR_WORDS, type Operator, type ThresholdDraft, type ValueKind } from './threshold-draft';

const KIND_WORDS: Record<ValueKind, string> = { text: 'text', number: 'number', boolean: 'true or false' };

interface ThresholdEditorProps {
  /** Null when every event is sent. */
  draft: ThresholdDraft | null;
  /** The initial value of a new condition. */
  first: ThresholdDraft;
  fields: Map<string, ValueKind>;
  /** Finds what is wrong with a field: `threshold.field`, `threshold.value`. */
  faultOf(field: string): string | null;
  onChange(draft: ThresholdDraft | null, touched: string): void;
}

/** Edits the condition that a payload must meet to be sent. */
export function ThresholdEditor({ draft, first, fields, faultOf, onChange }: ThresholdEditorProps) {
  const listId = useId();
  const set = (patch: Partial<ThresholdDraft>, touched: string) => draft && onChange({ ...draft, ...patch }, touched);
  const setField = (field: string) => {
    const kind = fields.get(field);
    set({ field, ...(kind && draft && !isNumeric(draft.operator) && changeKind(draft, kind)) }, 'threshold.field');
  };
  const setOperator = (operator: Operator) =>
    draft && set({ operator, ...(isNumeric(operator) && changeKind(draft, 'number')) }, 'threshold.operator');
  return (
    <fieldset className="min-w-0 rounded border border-line px-3 pb-3">
      <legend className="px-1 font-medium text-muted text-xs">Threshold</legend>
      <div className="space-y-3 pt-1">
        <Checkbox
          label="Send only what meets a condition"
          checked={draft !== null}
          onChange={(event) => onChange(event.target.checked ? first : null, '')}
        />
        {draft && (
          <>
            <Field label="Field of the payload" error={faultOf('threshold.field')}>
              <Input
                list={listId}
                value={draft.field}
                placeholder="botScore, metadata.otherUserCount"
                spellCheck={false}
                autoComplete="off"
                onChange={(event) => setField(event.target.value)}
              />
            </Field>
            <datalist id={listId}>
              {[...fields].map(([path, kind]) => (
                <option key={path} value={path}>
                  {KIND_WORDS[kind]}
                </option>
              ))}
            </datalist>
            <div className="grid gap-3 sm:grid-cols-2">
              <Field label="Operator" error={faultOf('threshold.operator')}>
                <Select value={draft.operator} onChange={(event) => setOperator(event.target.value as Operator)}>
                  {Object.entries(OPERATOR_WORDS).map(([operator, words]) => (
                    <option key={operator} value={operator}>
                      {words}
                    </option>
                  ))}
                </Select>
              </Field>
              <Field label="Compared as">
                <Select
                  value={draft.kind}
                  disabled={isNumeric(draft.operator)}
                  onChange={(event) => set(changeKind(draft, event.target.value as ValueKind), 'threshold.value')}
                >
                  {Object.entries(KIND_WORDS).map(([kind, words]) => (
                    <option key={kind} value={kind}>
                      {words}
                    </option>
                  ))}
                </Select>
              </Field>
            </div>
            <Field label={draft.operator === 'in' ? 'Values, one a line' : 'Value'} error={faultOf('threshold.value')}>
              <ValueControl draft={draft} onChange={(text) => set({ text }, 'threshold.value')} />
            </Field>
          </>
        )}
      </div>
    </fieldset>
  );
}

/** Sets the kind, and a value that its control can show. */
const changeKind = ({ operator, text }: ThresholdDraft, kind: ValueKind): Partial<ThresholdDraft> =>
  kind === 'boolean' && operator !== 'in' && text !== 'false' ? { kind, text: 'true' } : { kind };

function ValueControl({ draft, onChange }: { draft: ThresholdDraft; onChange(text: string): void }) {
  const { operator, kind, text } = draft;
  if (operator === 'in') return <Textarea value={text} onChange={(event) => onChange(event.target.value)} />;
  if (kind === 'boolean')
    return (
      <Select value={text} onChange={(event) => onChange(event.target.value)}>
        <option>true</option>
        <option>false</option>
      </Select>
    );
  return (
    <Input
      value={text}
      inputMode={kind === 'number' ? 'decimal' : undefined}
      autoComplete="off"
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
