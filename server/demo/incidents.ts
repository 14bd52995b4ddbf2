import type { Fact } from '../pipeline/facts';
import { makeCorrelation, makeVisitFacts, type Random, type StagedSession } from './session-facts';
import type { DemoTrace } from './traces';
import { type DemoVisit, listVisits } from './visits';

// Rare incidents, staged once for the demo: sessions of recorded visits, with times, places and people in which the rules
// find something.

const HOUR_MS = 3_600_000;
const LONDON = { country: 'GB', location: { latitude: 51.5, longitude: -0.12, accuracyKm: 20 } };
const SYDNEY = { country: 'AU', location: { latitude: -33.87, longitude: 151.2, accuracyKm: 20 } };

/** Makes sessions within the last two days. */
export function makeIncidents(now: number, random: Random): { facts: Fact[]; traces: DemoTrace[] } {
  const find = (isIt: (visit: DemoVisit) => boolean) => listVisits().find(isIt)!;
  const inChrome = find(({ kind, userAgent }) => kind === 'human' && userAgent.includes('Chrome'));
  const inFirefox = find(({ kind, userAgent }) => kind === 'human' && userAgent.includes('Firefox'));
  const takeover = find(({ kind }) => kind === 'takeover');
  const make = (
    session: Pick<StagedSession, 'visit'> & { student: number; hoursAgo: number } & Partial<StagedSession>,
  ) =>
    makeVisitFacts(
      { country: 'US', owner: session.student, endsAt: now - session.hoursAgo * HOUR_MS, ...session },
      random,
    );

  const handedOver = make({ visit: takeover, student: 3, hoursAgo: 2 });
  const atHome = make({ visit: inChrome, student: 5, hoursAgo: 9, ...LONDON });
  const abroad = make({ visit: inFirefox, student: 5, hoursAgo: 6, ...SYDNEY });
  const onOne = make({ visit: inChrome, student: 7, hoursAgo: 20 });
  const onAnother = make({ visit: inFirefox, student: 7, hoursAgo: 20 });
  const switched = make({ visit: inChrome, student: 9, hoursAgo: 30 });
  const switchedAt = new Date(now - 30 * HOUR_MS).toISOString();
  const sessions = [handedOver, atHome, abroad, onOne, onAnother, switched];
  return {
    facts: [...sessions.flatMap(({ facts }) => facts), makeCorrelation(switched.sessionId, switchedAt, 10, random)],
    traces: sessions.map(({ trace }) => trace),
  };
}
