import type { Session } from '../../../../contract/sessions';
import { SESSION_SORTS } from '../../../../contract/sort-orders';
import { showScore } from '../../components/score-bar';
import { type Calendar, readDateRange } from '../../date-range';
import { readSort } from '../../list-pages';

/** A filter with a few values to choose from. */
export interface ChoiceFilter {
  name: string;
  param: 'riskLevel' | 'label' | 'status' | 'deviceType';
  choices: { value: string; name: string }[];
}

const RISK_LEVELS: Record<NonNullable<Session['riskLevel']>, string> = { bot: 'Bot', medium: 'Medium', human: 'Human' };
const STATUSES: Record<Session['status'], string> = {
  Active: 'Active',
  Closed: 'Closed',
  Scored: 'Scored',
  Failed: 'Failed',
};
const DEVICES: Record<Session['deviceType'], string> = { desktop: 'Desktop', mobile: 'Mobile', tablet: 'Tablet' };
const LABELS = { none: 'Not reviewed', bot: 'Labelled bot', human: 'Labelled human' };

const choicesOf = (words: Record<string, string>) => Object.entries(words).map(([value, name]) => ({ value, name }));

export const CHOICE_FILTERS: ChoiceFilter[] = [
  { name: 'Risk', param: 'riskLevel', choices: choicesOf(RISK_LEVELS) },
  { name: 'Review', param: 'label', choices: choicesOf(LABELS) },
  { name: 'Status', param: 'status', choices: choicesOf(STATUSES) },
  { name: 'Device', param: 'deviceType', choices: choicesOf(DEVICES) },
];

/** Filters that match an exact text. */
export const TEXT_FILTERS = [
  { name: 'User id', param: 'userId' },
  { name: 'Course id', param: 'courseId' },
  { name: 'Device fingerprint', param: 'fingerprint' },
  { name: 'Origin', param: 'origin' },
  { name: 'Detection flag', param: 'detectionFlag' },
] as const;

/** Score filters. The URL holds scores from 0 to 1, as the API takes them. */
export const SCORE_FILTERS = [
  { name: 'Score from', param: 'minBotScore' },
  { name: 'Score to', param: 'maxBotScore' },
] as const;
type ScoreParam = (typeof SCORE_FILTERS)[number]['param'];

/** A score of the URL as its field shows it: like the scores of the list, 0 to 100 and never rounded up. */
export const showScoreBound = (bound: string) => showScore(Number(bound));

/** The score that was typed, for the URL. The list shows 0.694 as 69, so an upper bound of 69 must have it. */
export function writeScoreBound(param: ScoreParam, typed: string): string | null {
  if (typed === '') return null;
  const shown = Math.floor(Math.min(100, Math.max(0, Number(typed))));
  return param === 'maxBotScore' && shown < 100 ? `${(shown / 100).toFixed(2)}999999999999` : String(shown / 100);
}

const DATE_FILTERS = [
  { name: 'Time', param: 'range' },
  { name: 'From', param: 'startDate' },
  { name: 'To', param: 'endDate' },
] as const;

/** Names of all filters, in the order of their chips. */
export const SESSION_FILTER_NAMES = new Map<string, string>(
  [...CHOICE_FILTERS, ...SCORE_FILTERS, ...DATE_FILTERS, ...TEXT_FILTERS].map(({ param, name }) => [param, name]),
);

/** Reads the filters and the order of the list from a page's query. */
export const readSessionList = (search: URLSearchParams, calendar: Calendar) => ({
  ...readSessionFilters(search, calendar),
  sort: readSort(search, SESSION_SORTS),
});

/**
 * Reads the filters of GET /v1/sessions from a page's query, under the API's own names. The API reports invalid values.
 */
export function readSessionFilters(search: URLSearchParams, calendar: Calendar) {
  const text = (name: string) => search.get(name) ?? undefined;
  const number = (name: string) => (search.has(name) ? Number(search.get(name)) : undefined);
  return {
    riskLevel: text('riskLevel'),
    label: text('label'),
    status: text('status'),
    deviceType: text('deviceType'),
    userId: text('userId'),
    courseId: text('courseId'),
    fingerprint: text('fingerprint'),
    origin: text('origin'),
    detectionFlag: text('detectionFlag'),
    ...readDateRange(search, calendar),
    minBotScore: number('minBotScore'),
    maxBotScore: number('maxBotScore'),
  };
}
