import type { Anomaly, AnomalyType, FindingRuleName } from '../../../../contract/findings';

type Metadata = Record<string, unknown>;

interface AnomalyWords {
  name: string;
  /** Says what was seen, by the metadata. Null if that lacks something, as a customer's own pipeline may write it. */
  describe(metadata: Metadata): string | null;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isNumber = (value: unknown): value is number => typeof value === 'number';
const count = (value: number, one: string, many: string) => `${value} ${value === 1 ? one : many}`;

/** Says how long something took, in minutes, hours or days. */
function showMinutes(minutes: number): string {
  if (minutes < 120) return count(minutes, 'minute', 'minutes');
  if (minutes < 48 * 60) return `${Math.round(minutes / 60)} hours`;
  return `${Math.round(minutes / 1_440)} days`;
}

const WORDS: Record<AnomalyType, AnomalyWords> = {
  SharedDevice: {
    name: 'Device used by several users',
    describe: ({ otherUserCount }) =>
      isNumber(otherUserCount)
        ? `The device was used by ${count(otherUserCount, 'other user', 'other users')} within the 30 days before.`
        : null,
  },
  DeviceSwitch: {
    name: 'New kind of device',
    describe: ({ device, otherDevice, minutesSinceOther }) =>
      isText(device) && isText(otherDevice) && isNumber(minutesSinceOther)
        ? `The user came with ${device}, ${showMinutes(minutesSinceOther)} after activity with ${otherDevice}.`
        : null,
  },
  UserSwitch: {
    name: 'Two users in one session',
    describe: ({ previousUserId, minutesBetween }) =>
      isText(previousUserId) && isNumber(minutesBetween)
        ? `The session was matched with ${previousUserId} first, and with this user ${showMinutes(minutesBetween)} later.`
        : null,
  },
  ImpossibleTravel: {
    name: 'Places too far apart',
    describe: ({ distanceKm, minutesBetween, isSameDevice }) =>
      isNumber(distanceKm) && isNumber(minutesBetween)
        ? `Two sessions began at least ${distanceKm} km apart within ${showMinutes(minutesBetween)}${isSameDevice === true ? ', both on one device' : ''}.`
        : null,
  },
  ConcurrentSessions: {
    name: 'Input on two devices at once',
    describe: ({ devices }) =>
      Array.isArray(devices) && devices.length === 2 && devices.every(isText)
        ? `There was input with ${devices[0]} and with ${devices[1]} in the same minute.`
        : null,
  },
  AgentTakeover: {
    name: 'Person and program in one session',
    describe({ direction, segmentsBefore, segmentsAfter }) {
      if (!isNumber(segmentsBefore) || !isNumber(segmentsAfter)) return null;
      const isProgramLast = direction === 'person-to-program';
      if (!isProgramLast && direction !== 'program-to-person') return null;
      const [first, second] = isProgramLast ? ['a person', 'a program'] : ['a program', 'a person'];
      const parts = count(segmentsBefore, 'part', 'parts');
      return `The first ${parts} of the session look like ${first}, the ${segmentsAfter} after that like ${second}.`;
    },
  },
};

const findWords = (type: string): AnomalyWords | null =>
  Object.hasOwn(WORDS, type) ? WORDS[type as AnomalyType] : null;

/** Names a type of anomaly in words. One of a customer's own pipeline keeps its name. */
export const nameAnomaly = (type: string): string => findWords(type)?.name ?? type;

/** Says what was seen. Null if nobody has described it. */
export const describeAnomaly = ({ anomalyType, metadata }: Pick<Anomaly, 'anomalyType' | 'metadata'>): string | null =>
  metadata && (findWords(anomalyType)?.describe(metadata) ?? null);

/** The moment that an anomaly names in its metadata: when a program or a person went on, or the minute of the input. */
export function findMoment({ anomalyType, metadata }: Pick<Anomaly, 'anomalyType' | 'metadata'>): string | null {
  const moment = anomalyType === 'AgentTakeover' ? metadata?.moment : metadata?.minute;
  return isText(moment) && !Number.isNaN(Date.parse(moment)) ? moment : null;
}

/** Names what can be switched off. */
export const nameRule = (rule: FindingRuleName): string => OTHER_RULES.get(rule) ?? nameAnomaly(rule);

const OTHER_RULES = new Map<FindingRuleName, string>([
  ['Correlation', 'User of a session by its device'],
  ['WritingSessionScored', 'Scores of what is written'],
]);
