import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { cutText, text } from '../../contract/fields';
import { geoLocationInput } from '../../contract/sessions';
import { findCourse } from '../domain/courses';
import { readUserAgent } from '../domain/user-agents';
import { FactRefusal } from './draft';
import { cutPageUrl, factId, factTime, webUrl } from './fact-fields';
import { defineFact } from './fact-kind';

const MAX_USER_AGENT_LENGTH = 2048;
/** More than servers accept as one header. */
const MAX_SENT_LENGTH = 65_536;

/** A User-Agent header. A longer one is cut and not refused, because a visitor could make the pipeline's batch fail. */
const userAgent = () => text(0, MAX_SENT_LENGTH).transform((header) => cutText(header, MAX_USER_AGENT_LENGTH));

/** A session started; its status is `Active`. This must be the first fact about a session. */
export const sessionStartedFact = defineFact({
  schema: z.object({
    kind: z.literal('sessionStarted'),
    sessionId: factId(),
    startedAt: factTime(),
    pageUrl: webUrl(),
    userAgent: userAgent(),
    deviceFingerprint: factId().nullish(),
    country: text(1, 64).nullish(),
    location: geoLocationInput.nullish(),
  }),
  nameKeys(fact, keys) {
    keys.nameNewSession(fact.sessionId);
  },
  apply(fact, draft) {
    const pageUrl = cutPageUrl(fact.pageUrl);
    const existing = draft.findSession(fact.sessionId)?.row;
    if (existing) {
      // A cut that is sent again has the same start. Another one is of a visitor who uses the nonce of a session that was forgotten.
      if (draft.isOurs && existing.createdAt !== fact.startedAt)
        throw new FactRefusal('sessionId: names a session that began before');
      const isSame =
        existing.createdAt === fact.startedAt &&
        existing.pageUrl === pageUrl &&
        existing.userAgent === fact.userAgent &&
        existing.fingerprint === (fact.deviceFingerprint ?? null) &&
        existing.country === (fact.country ?? null) &&
        isDeepStrictEqual(existing.location, fact.location ?? null);
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
      pageUrl,
      origin: new URL(fact.pageUrl).origin,
      userAgent: fact.userAgent,
      userAgentSummary: summary,
      deviceType,
      browser,
      country: fact.country ?? null,
      location: fact.location ?? null,
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
      isInferred: null,
      courseId: course?.id ?? null,
      eventCount: 0,
    });
    return 'accepted';
  },
});
