import { isDeepStrictEqual } from 'node:util';
import { isDateOrTime, type Operation } from './document';

/** A wrong place in a request, and the code that must name it. */
export interface Fault {
  code: 'INVALID_REQUEST' | 'INVALID_BODY' | 'INVALID_URL' | 'INVALID_EVENT_TYPE';
  field: string;
}

/** A cursor with the walk that issued it. It is valid only there. */
export interface IssuedCursor {
  operationId: string;
  values: Record<string, unknown>;
  cursor: string;
}

type Values = Record<string, unknown>;
type Rule = (values: Values) => string | null;

const DAY_MS = 86_400_000;
const MIN_GAP = 5;
const NUMERIC_TEXT = /^-?\d{1,30}(\.\d{1,30})?$/;

const RANGE_RULES: Rule[] = [
  yearOf('startDate'),
  yearOf('endDate'),
  (values) => (isReversed(values) ? 'endDate' : null),
];
const SESSION_RULES: Rule[] = [
  ...RANGE_RULES,
  ({ minBotScore, maxBotScore }) =>
    typeof minBotScore === 'number' && typeof maxBotScore === 'number' && minBotScore > maxBotScore
      ? 'maxBotScore'
      : null,
];

/** Rules between the fields of a request, which its schema cannot express. Each answers the field that it refuses. */
const RULES: Record<string, Rule[]> = {
  listSessions: SESSION_RULES,
  exportSessions: SESSION_RULES,
  getUsage: [...RANGE_RULES, findRangeFault],
  updateRiskThresholds: [
    ({ mediumAt, botAt }) =>
      typeof mediumAt === 'number' && typeof botAt === 'number' && botAt - mediumAt < MIN_GAP ? 'botAt' : null,
  ],
  listWebhookEvents: RANGE_RULES,
  exportWebhookEvents: RANGE_RULES,
  listWebhookDeliveries: RANGE_RULES,
  recoverWebhookDeliveries: RANGE_RULES,
  createWebhook: [findThresholdFault],
  updateWebhook: [findThresholdFault],
};

/** Finds what the rules between the fields of a request refuse. A rule skips fields that are invalid by themselves. */
export function findRuleFaults(
  { operation }: Operation,
  values: Values,
  faulty: ReadonlySet<string>,
  cursors: readonly IssuedCursor[],
): Fault[] {
  const code = operation.requestBody ? 'INVALID_BODY' : 'INVALID_REQUEST';
  const sound = Object.fromEntries(Object.entries(values).filter(([name]) => !faulty.has(name)));
  const rules = [...(RULES[operation.operationId] ?? []), cursorRule(operation.operationId, cursors)];
  return rules.flatMap((rule) => {
    const field = rule(sound);
    return field === null ? [] : [{ code, field }];
  });
}

/** A cursor is valid only in the walk that issued it, whatever the page size. */
const cursorRule =
  (operationId: string, cursors: readonly IssuedCursor[]): Rule =>
  ({ cursor, pageSize: _, ...values }) => {
    if (cursor === undefined) return null;
    const isIssued = cursors.some(
      (issued) =>
        issued.operationId === operationId && issued.cursor === cursor && isDeepStrictEqual(issued.values, values),
    );
    return isIssued ? null : 'cursor';
  };

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** Finds the instant of a bound; NaN if it is no date. A date as the end means the end of its day. */
function toMs(bound: unknown, edge: 'start' | 'end'): number | null {
  if (typeof bound !== 'string') return null;
  const ms = isDateOrTime(bound) ? Date.parse(bound) : Number.NaN;
  return edge === 'end' && DATE.test(bound) ? ms + DAY_MS : ms;
}

/** Times must be in the years 1 to 9998, in UTC. */
function yearOf(name: string): Rule {
  return ({ [name]: bound }) => {
    const ms = toMs(bound, 'start');
    return ms === null || (ms >= Date.parse('0001-01-01T00:00:00Z') && ms <= Date.parse('9998-12-31T23:59:59.999Z'))
      ? null
      : name;
  };
}

function isReversed({ startDate, endDate }: Values): boolean {
  const start = toMs(startDate, 'start');
  const end = toMs(endDate, 'end');
  if (start === null || end === null) return false;
  return start > end || (DATE.test(String(endDate)) && start === end);
}

/** A range of usage is at most 366 days long and by default ends now. */
function findRangeFault({ startDate, endDate }: Values): string | null {
  const end = toMs(endDate, 'end') ?? Date.now();
  const start = toMs(startDate, 'start') ?? end - 30 * DAY_MS;
  return start > end || end - start > 366 * DAY_MS ? (endDate === undefined ? 'startDate' : 'endDate') : null;
}

/** The document does not say what a list of scalars holds. */
const isScalar = (item: unknown) =>
  typeof item === 'string'
    ? [...item].length <= 256 && item.isWellFormed() && !item.includes('\0')
    : typeof item === 'number' || typeof item === 'boolean';

function findThresholdFault({ threshold }: Values): string | null {
  if (typeof threshold !== 'object' || threshold === null) return null;
  const { operator, value } = threshold as Values;
  const field = 'threshold.value';
  const items = Array.isArray(value) ? value : [value];
  // 1e400 is a number in JSON but not in a double.
  if (items.some((item) => typeof item === 'number' && !Number.isFinite(item))) return field;
  if (Array.isArray(value) && !items.every(isScalar)) return field;
  switch (typeof operator === 'string' ? operator.toLowerCase() : '') {
    case 'in':
      return Array.isArray(value) ? null : field;
    case 'eq':
    case 'neq':
      return Array.isArray(value) ? field : null;
    case 'gte':
    case 'gt':
    case 'lte':
    case 'lt':
      return typeof value === 'number' || (typeof value === 'string' && NUMERIC_TEXT.test(value)) ? null : field;
  }
  return null;
}
