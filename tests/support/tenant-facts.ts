import { findCourse } from '../../server/domain/courses';
import type { Fact } from '../../server/pipeline/facts';
import { CHROME, secondsAgo } from './facts';

/** Ids, devices and addresses of courses that tenants share. */
export const SHARED = {
  sessions: ['session-1', 'session-2', 'session-3', 'session-4', 'session-5', 'session-6'],
  users: ['user-1', 'user-2', 'user-3'],
  fingerprints: ['fingerprint-1', 'fingerprint-2', 'fingerprint-3'],
  anomalies: ['anomaly-1', 'anomaly-2', 'anomaly-3'],
  origin: 'https://lms.example.edu',
};
const COURSES = ['/courses/1', '/courses/2', '/courses/3'];
export const SHARED_COURSE = findCourse(SHARED.origin + COURSES[0])!.id;

const FINDING = { group: 'typing', state: 'found', measured: null, expected: null, weight: 1 } as const;

const pick = <T>(list: T[], index: number) => list[index % list.length]!;

/**
 * Makes facts of every kind about the shared things, with the tenant's marker in every free text, and about some things
 * that only this tenant has. Groups may be sent one by one in their order. `variety` makes scores, users and counts
 * differ.
 */
export function makeTenantFacts(marker: string, variety: number): Fact[][] {
  const own = [`${marker}-session-1`, `${marker}-session-2`];
  return [...SHARED.sessions, ...own].flatMap((sessionId, index) => {
    const isOwn = own.includes(sessionId);
    const user = isOwn ? `${marker}-user` : pick(SHARED.users, index + variety);
    const origin = isOwn ? `https://${marker}.example.edu` : SHARED.origin;
    const fingerprint = isOwn ? `${marker}-fingerprint` : pick(SHARED.fingerprints, index + variety);
    const page = `${origin}${pick(COURSES, index)}/quizzes/${marker}`;
    const at = (seconds: number) => secondsAgo(3_600 - index * 60 - seconds - variety * 7);
    const botScore = ((index * 29 + variety * 41) % 100) / 100;
    const beginning: Fact[] = [
      {
        kind: 'sessionStarted',
        sessionId,
        startedAt: at(0),
        pageUrl: page,
        userAgent: `${CHROME} ${marker}`,
        deviceFingerprint: fingerprint,
        country: marker,
      },
      {
        kind: 'sessionEvents',
        sessionId,
        events: (['mouse', 'keyboard', 'navigation'] as const).slice(variety % 2).map((type, sequence) => ({
          sequence,
          type,
          timestamp: at(1 + sequence),
          url: `${page}/${type}`,
          eventCount: 1 + variety + sequence,
          metadata: { note: marker },
        })),
      },
    ];
    const end: Fact[] = [
      { kind: 'sessionClosed', sessionId, closedAt: at(20) } as Fact,
      { kind: 'sessionFailed', sessionId, failedAt: at(20), reason: marker },
      {
        ...{ kind: 'sessionScored', sessionId, botScore, detectionFlags: ['shared', marker], scoredAt: at(21) },
        ...{ ruleSetVersion: marker, evidence: [{ ...FINDING, flag: marker, measured: marker, moments: [at(15)] }] },
      },
      {
        kind: 'sessionCorrelated',
        sessionId,
        user: {
          id: user,
          name: `Name ${marker}`,
          email: `${marker}@example.edu`,
          url: `https://lms.example.edu/${marker}`,
        },
        confidence: 0.5 + variety / 20,
        contextId: marker,
        correlatedAt: at(22),
      },
    ];
    const anomalyId = isOwn ? `${marker}-anomaly-${index}` : SHARED.anomalies[index];
    const anomaly: Fact[] = anomalyId
      ? [
          {
            kind: 'anomalyDetected',
            anomalyId,
            anomalyType: pick(['SharedDevice', 'DeviceSwitch', `Type ${marker}`], index + variety),
            severity: 'high',
            detectedAt: at(23),
            sessionId,
            userId: user,
            metadata: { note: marker },
          },
        ]
      : [];
    const key = isOwn ? `${marker}-${index}` : `${index}`;
    const others: Fact[] = [
      {
        kind: 'writingScored',
        sessionId: `writing-${key}`,
        aiScore: botScore,
        scoredAt: at(24),
        userId: user,
        documentId: marker,
        wordCount: 100 + variety,
        browsingSessionId: sessionId,
      },
      {
        kind: 'reportReady',
        reportId: `report-${key}`,
        reportName: `Report of ${marker}`,
        templateId: marker,
        format: 'csv',
        recordCount: variety,
        fileSize: 1_000 + variety,
        completedAt: at(25),
        downloadUrl: `/reports/${marker}`,
      },
      { kind: 'alertFired', alertId: `alert-${key}`, severity: marker, message: `Of ${marker}`, triggeredAt: at(26) },
    ];
    return [beginning, [...end, ...anomaly, ...others]];
  });
}
