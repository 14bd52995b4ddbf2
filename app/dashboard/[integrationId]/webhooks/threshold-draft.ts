import type { Threshold } from '../../../../contract/webhooks';

export type Operator = Threshold['operator'];

/** What a value is meant as: the API compares without coercion. */
export type ValueKind = 'text' | 'number' | 'boolean';

/** A threshold as its form holds it; several values stand one a line. */
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

/** Whether the operator compares numbers, so that its value can be nothing else. */
export const isNumeric = (operator: Operator) =>
  operator === 'gte' || operator === 'gt' || operator === 'lte' || operator === 'lt';

/** The threshold of a draft, as it is sent; what is wrong with it is for the schema to say. */
export function toThreshold({ field, operator, kind, text }: ThresholdDraft) {
  const read = (part: string) => {
    if (kind === 'boolean') return part === 'true';
    if (kind === 'text') return part;
    // What is no number stays as it is, to be refused.
    return part.trim() === '' || Number.isNaN(Number(part)) ? part : Number(part);
  };
  if (operator === 'in') {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    return { field, operator, value: lines.map((line) => read(line.trim())) };
  }
  return { field, operator, value: text === '' && kind !== 'text' ? undefined : read(text) };
}

/** The draft of a threshold. */
export function toDraft({ field, operator, value }: Threshold): ThresholdDraft {
  const values = Array.isArray(value) ? value : [value];
  const kind = isNumeric(operator) ? 'number' : kindOf(values[0]);
  return { field, operator, kind, text: values.map(String).join('\n') };
}

export const kindOf = (value: unknown): ValueKind =>
  typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'text';

/** The fields of payloads that a threshold may name, dotted where they nest, with the kind of their values. */
export function listFields(payloads: Record<string, unknown>[]): Map<string, ValueKind> {
  const fields = new Map<string, ValueKind>();
  const visit = (value: unknown, path: string) => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [name, inner] of Object.entries(value)) visit(inner, path ? `${path}.${name}` : name);
    } else if (path && !Array.isArray(value) && (value !== null || !fields.has(path))) fields.set(path, kindOf(value));
  };
  for (const payload of payloads) visit(payload, '');
  return fields;
}
