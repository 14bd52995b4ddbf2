import type { Threshold } from '../../../../contract/webhooks';

export type Operator = Threshold['operator'];

/** The type of a value. The form must ask for it, because the API compares without coercion. */
export type ValueKind = 'text' | 'number' | 'boolean';

/** A threshold as the form holds it, with one value per line. */
export interface ThresholdDraft {
  field: string;
  operator: Operator;
  kind: ValueKind;
  text: string;
}

export const OPERATOR_WORDS: Record<Operator, string> = {
  gte: 'is at least (gte)',
  gt: 'is more than (gt)',
  lte: 'is at most (lte)',
  lt: 'is less than (lt)',
  eq: 'equals (eq)',
  neq: 'differs from (neq)',
  in: 'is one of (in)',
};

/** Whether the operator compares numbers; its value then must be a number. */
export const isNumeric = (operator: Operator) =>
  operator === 'gte' || operator === 'gt' || operator === 'lte' || operator === 'lt';

/** Converts a draft to the threshold that is sent. The schema reports what is wrong with it. */
export function toThreshold({ field, operator, kind, text }: ThresholdDraft) {
  const read = (part: string) => {
    if (kind === 'boolean') return part === 'true';
    if (kind === 'text') return part;
    // Text that is not a number stays text, so that the schema refuses it.
    return part.trim() === '' || Number.isNaN(Number(part)) ? part : Number(part);
  };
  if (operator === 'in') {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    return { field, operator, value: lines.map((line) => read(line.trim())) };
  }
  return { field, operator, value: text === '' && kind !== 'text' ? undefined : read(text) };
}

/** Converts a threshold to a draft. */
export function toDraft({ field, operator, value }: Threshold): ThresholdDraft {
  const values = Array.isArray(value) ? value : [value];
  const kind = isNumeric(operator) ? 'number' : findValueKind(values[0]);
  return { field, operator, kind, text: values.map(String).join('\n') };
}

export const findValueKind = (value: unknown): ValueKind =>
  typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'text';

/** Lists the payload fields that a threshold may name, with the type of their values. Nested fields are dotted. */
export function listFields(payloads: Record<string, unknown>[]): Map<string, ValueKind> {
  const fields = new Map<string, ValueKind>();
  const visit = (value: unknown, path: string) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [name, inner] of Object.entries(value)) visit(inner, path ? `${path}.${name}` : name);
    } else if (path && !Array.isArray(value) && (value !== null || !fields.has(path)))
      fields.set(path, findValueKind(value));
  };
  for (const payload of payloads) visit(payload, '');
  return fields;
}
