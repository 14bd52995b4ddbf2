import type { Anomaly, AnomalyType, FindingRuleName } from '../../../../contract/findings';
import { isolateName } from '../../components/direction';
import { showScore } from '../../components/score-bar';
import { showInstant } from '../../time-zone';

/** Something that has a page. A device has the list of its sessions. */
export interface Named {
  kind: 'user' | 'session' | 'device';
  id: string;
  name: string;
}
/** A part of a sentence: text, something that has a page, or a time. */
export type Part = string | Named | { kind: 'time'; at: string };

interface AnomalyWords {
  name: string;
  /** Says what was seen. Null if the metadata lack something, as a customer's own pipeline may write them. */
  describe(anomaly: Anomaly, metadata: Record<string, unknown>): Part[] | null;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';
/** With its offset. Without one, each reader's browser would read it in the zone of that computer. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/;
const isInstant = (value: unknown): value is string =>
  isText(value) && INSTANT.test(value) && !Number.isNaN(Date.parse(value));
const count = (value: number, one: string, many: string) =>
  `${value.toLocaleString('en-US')} ${value === 1 ? one : many}`;

/** Says how long something took, in minutes, hours or days. */
function showMinutes(minutes: number): string {
  if (minutes < 120) return count(minutes, 'minute', 'minutes');
  if (minutes < 48 * 60) return `${Math.round(minutes / 60)} hours`;
  return `${Math.round(minutes / 1_440)} days`;
}

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });
/** Names a country. Codes that are none stay as they are. */
function nameCountry(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (COUNTRIES.of(code) ?? code) : code;
}

const nameUser = (id: string | null, name: string | null, otherwise: string): Part =>
  id === null ? otherwise : { kind: 'user', id, name: isolateName(name ?? id) };
const userOf = ({ userId, userName }: Anomaly, otherwise = 'A user'): Part => nameUser(userId, userName, otherwise);
const sessionPart = (id: string | null, name: string): Part => (id === null ? name : { kind: 'session', id, name });
const deviceOf = ({ deviceFingerprint }: Anomaly, name: string): Part =>
  deviceFingerprint === null ? name : { kind: 'device', id: deviceFingerprint, name };

const WORDS: Record<AnomalyType, AnomalyWords> = {
  SharedDevice: {
    name: 'Device used by several users',
    describe: (anomaly, { otherUserCount }) =>
      isNumber(otherUserCount)
        ? [
            ...[userOf(anomaly), ' used ', deviceOf(anomaly, 'a device'), ' that '],
            `${count(otherUserCount, 'other user', 'other users')} had used within the 30 days before.`,
          ]
        : null,
  },
  DeviceSwitch: {
    name: 'New kind of device',
    describe: (anomaly, { device, otherDevice, minutesSinceOther }) =>
      isText(device) && isText(otherDevice) && isNumber(minutesSinceOther)
        ? [
            ...[userOf(anomaly), ' came with ', deviceOf(anomaly, device)],
            `, ${showMinutes(minutesSinceOther)} after activity with ${otherDevice}.`,
          ]
        : null,
  },
  UserSwitch: {
    name: 'Two users in one session',
    describe: (anomaly, { previousUserId, minutesBetween }) =>
      isText(previousUserId) && isNumber(minutesBetween)
        ? [
            ...[sessionPart(anomaly.sessionId, 'The session'), ' was matched with '],
            nameUser(previousUserId, anomaly.previousUserName, ''),
            ...[' first, and with ', userOf(anomaly, 'another user'), ` ${showMinutes(minutesBetween)} later.`],
          ]
        : null,
  },
  ImpossibleTravel: { name: 'Places too far apart', describe: describeTravel },
  ConcurrentSessions: {
    name: 'Input on two devices or browsers at once',
    describe: (anomaly, { devices, otherSessionId, minute }) =>
      Array.isArray(devices) && devices.length === 2 && devices.every(isText)
        ? [
            ...[userOf(anomaly), ' used '],
            ...[sessionPart(isText(otherSessionId) ? otherSessionId : null, devices[0]!), ' and '],
            sessionPart(anomaly.sessionId, devices[1]!),
            ...(isInstant(minute)
              ? [' in the same minute, ', { kind: 'time' as const, at: minute }, '.']
              : [' in the same minute.']),
          ]
        : null,
  },
  AgentTakeover: { name: 'Person and program in one session', describe: describeTakeover },
};

function describeTravel(anomaly: Anomaly, metadata: Record<string, unknown>): Part[] | null {
  const { distanceKm, minutesBetween, speedKmh, isSameDevice, otherSessionId } = metadata;
  if (!isNumber(distanceKm) || !isNumber(minutesBetween)) return null;
  const [from, to] = [anomaly.otherSession?.country, anomaly.session?.country];
  const way = `at least ${distanceKm.toLocaleString('en-US')} km away`;
  const speed = isNumber(speedKmh) && speedKmh > 0 ? ` That is ${speedKmh.toLocaleString('en-US')} km/h.` : '';
  return [
    ...[userOf(anomaly), ' began '],
    sessionPart(
      isText(otherSessionId) ? otherSessionId : null,
      from ? `a session in ${nameCountry(from)}` : 'a session',
    ),
    ` and, ${showMinutes(minutesBetween)} later, `,
    sessionPart(anomaly.sessionId, to ? `one in ${nameCountry(to)}` : 'another'),
    `, ${way}${isSameDevice === true ? ', both on one device' : ''}.${speed}`,
  ];
}

function describeTakeover(anomaly: Anomaly, metadata: Record<string, unknown>): Part[] | null {
  const { direction, segmentsBefore, segmentsAfter, scoreBefore, scoreAfter, moment } = metadata;
  if (!isNumber(segmentsBefore) || !isNumber(segmentsAfter)) return null;
  const isProgramLast = direction === 'person-to-program';
  if (!isProgramLast && direction !== 'program-to-person') return null;
  const [first, second] = isProgramLast ? ['a person', 'a program'] : ['a program', 'a person'];
  const scoreOf = (score: unknown) => (isNumber(score) ? ` (score ${showScore(score)})` : '');
  const parts = segmentsBefore === 1 ? 'The first part of ' : `The first ${segmentsBefore} parts of `;
  const owner: Part[] = anomaly.userId === null ? [] : [' of ', userOf(anomaly)];
  return [
    ...[parts, sessionPart(anomaly.sessionId, 'the session'), ...owner],
    ` ${segmentsBefore === 1 ? 'looks' : 'look'} like ${first}${scoreOf(scoreBefore)}, the ${segmentsAfter} after that like ${second}${scoreOf(scoreAfter)}.`,
    ...(isInstant(moment) ? [' The change was at ', { kind: 'time' as const, at: moment }, '.'] : []),
  ];
}

const findWords = (type: string): AnomalyWords | null =>
  Object.hasOwn(WORDS, type) ? WORDS[type as AnomalyType] : null;

/** Names a type of anomaly in words. One of a customer's own pipeline keeps its name. */
export const nameAnomaly = (type: string): string => findWords(type)?.name ?? type;

/** Says what was seen. Null if nobody has described it. */
export const describeAnomaly = (anomaly: Anomaly): Part[] | null =>
  anomaly.metadata && (findWords(anomaly.anomalyType)?.describe(anomaly, anomaly.metadata) ?? null);

/** The same as text, for a line of a list. */
export const sayAnomaly = (anomaly: Anomaly, timeZone: string): string | null =>
  describeAnomaly(anomaly)
    ?.map((part) =>
      typeof part === 'string' ? part : part.kind === 'time' ? showInstant(part.at, timeZone) : part.name,
    )
    .join('') ?? null;

/** Names what can be switched off. */
export const nameRule = (rule: FindingRuleName): string => OTHER_RULES.get(rule) ?? nameAnomaly(rule);

const OTHER_RULES = new Map<FindingRuleName, string>([
  ['Correlation', 'User of a session by its device'],
  ['WritingSessionScored', 'Scores of what is written'],
]);

/** How deep metadata of a customer are taken apart, and how many values are shown. */
const MAX_DEPTH = 4;
const MAX_ROWS = 100;

/** A value of the metadata with its name in words. */
export interface MetadataRow {
  name: string;
  value: string;
  /** Whether the value is a time (ISO 8601 with an offset). */
  isTime: boolean;
}

/** Lists metadata as names and values. What is nested is named by its path. */
export function listReported(metadata: Record<string, unknown>): MetadataRow[] {
  const rows: MetadataRow[] = [];
  const add = (value: unknown, path: string[]) => {
    if (rows.length >= MAX_ROWS) return;
    const isPlain = value === null || typeof value !== 'object';
    const isList = Array.isArray(value) && value.every((item) => item === null || typeof item !== 'object');
    if (isPlain || isList || path.length >= MAX_DEPTH) {
      rows.push({ name: path.join(', '), value: showValue(value), isTime: isInstant(value) });
      return;
    }
    for (const [key, item] of Object.entries(value))
      add(item, [...path, Array.isArray(value) ? String(Number(key) + 1) : nameKey(key, path.length === 0)]);
  };
  add(metadata, []);
  return rows;
}

function showValue(value: unknown): string {
  if (value === null || value === '') return '–';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (isNumber(value)) return value.toLocaleString('en-US', { maximumFractionDigits: 6 });
  if (isText(value)) return value;
  return Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null)
    ? value.map(showValue).join(', ') || '–'
    : JSON.stringify(value);
}

/** `minutesSinceOther` and `minutes_since_other` as `Minutes since other`. */
function nameKey(key: string, isFirst: boolean): string {
  const words = key
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_-]/g, ' ')
    .trim();
  const lower = words.replace(/\b[A-Z][a-z]/g, (start) => start.toLowerCase());
  return isFirst ? lower.charAt(0).toUpperCase() + lower.slice(1) : lower || key;
}
