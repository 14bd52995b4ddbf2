import { z } from 'zod';
import { text } from '../../contract/fields';
import { findCourse } from '../domain/courses';
import { readUserAgent } from '../domain/user-agents';
import { FactRefusal } from './draft';
import { factId, factTime, pageUrl } from './fact-fields';
import { defineFact } from './fact-kind';

// A host name has at most 253 characters; a longer origin would not fit its index.
const MAX_ORIGIN_LENGTH = 300;

/** A session started; its status is `Active`. This must be the first fact about a session. */
export const sessionStartedFact = defineFact({
  schema: z.object({
    kind: z.literal('sessionStarted'),
    sessionId: factId(),
    startedAt: factTime(),
    pageUrl: pageUrl(),
    userAgent: text(0, 2048),
    deviceFingerprint: factId().nullish(),
    country: text(1, 64).nullish(),
  }),
  nameKeys(fact, keys) {
    keys.nameNewSession(fact.sessionId);
  },
  apply(fact, draft) {
    const existing = draft.findSession(fact.sessionId)?.row;
    if (existing) {
      const isSame =
        existing.createdAt === fact.startedAt &&
        existing.pageUrl === fact.pageUrl &&
        existing.userAgent === fact.userAgent &&
        existing.fingerprint === (fact.deviceFingerprint ?? null) &&
        existing.country === (fact.country ?? null);
      return draft.repeat(fact.kind, fact.sessionId, isSame);
    }
    draft.assertNotAhead('startedAt', fact.startedAt);
    const { summary, browser, deviceType } = readUserAgent(fact.userAgent);
    const course = findCourse(fact.pageUrl);
    if (course) draft.nameCourse({ integrationId: draft.integrationId, ...course });
    draft.addSession({
      integrationId: draft.integrationId,
      id: fact.sessionId,
      createdAt: fact.startedAt,
      updatedAt: null,
      closedAt: null,
      failedAt: null,
      failureReason: null,
      status: 'Active',
      pageUrl: fact.pageUrl,
      origin: readOrigin(fact.pageUrl),
      userAgent: fact.userAgent,
      userAgentSummary: summary,
      deviceType,
      browser,
      country: fact.country ?? null,
      fingerprint: fact.deviceFingerprint ?? null,
      botScore: null,
      scoreBin: null,
      scoredAt: null,
      detectionFlags: [],
      label: null,
      labelConfidence: null,
      labelNotes: null,
      labeledAt: null,
      labeledBy: null,
      userId: null,
      correlationConfidence: null,
      correlatedAt: null,
      courseId: course?.id ?? null,
      eventCount: 0,
    });
    return 'accepted';
  },
});

function readOrigin(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.origin.length > MAX_ORIGIN_LENGTH) {
    throw new FactRefusal('pageUrl: must be an http or https address');
  }
  return parsed.origin;
}
