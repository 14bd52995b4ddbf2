import { z } from 'zod';
import { SEVERITIES } from '../../contract/events';
import { text, word } from '../../contract/fields';
import { SUPPRESSED_ANOMALY_TYPES } from '../../contract/users';
import { anomalies } from '../../db/schema';
import { listMentionedIds } from '../domain/mentions';
import { factId, factTime, jsonObject, UNTOUCHED } from './fact-fields';
import { defineFact } from './fact-kind';
import { defineRecords, isSameRecord, type RecordRow } from './records';

const SHOWN_FINGERPRINT_LENGTH = 8;

const ANOMALIES = defineRecords({ table: anomalies, key: ['id'], isOfSession: false });

/** An anomaly was detected. It is recorded and fires an event, unless the customer confirmed the device as the user's own. */
export const anomalyDetectedFact = defineFact({
  schema: z.object({
    kind: z.literal('anomalyDetected'),
    anomalyId: factId(),
    anomalyType: text(1, 128),
    severity: word(SEVERITIES),
    detectedAt: factTime(),
    sessionId: factId().nullish(),
    userId: factId().nullish(),
    deviceFingerprint: factId().nullish(),
    metadata: jsonObject().nullish(),
    /** The anomaly names no user, although its session may: nobody vouches for who that is. */
    isAnonymous: z.boolean().nullish(),
  }),
  records: ANOMALIES,
  listUsers: ({ userId, metadata }) => [userId ?? [], ...listMentionedIds(metadata, MAX_ID_LENGTH)].flat(),
  nameKeys(fact, keys) {
    if (fact.sessionId != null) keys.nameSession(fact.sessionId);
    keys.nameRecord(ANOMALIES, { integrationId: keys.integrationId, id: fact.anomalyId });
    keys.nameSuspect(fact.userId ?? null, fact.sessionId ?? null);
  },
  apply(fact, draft) {
    const session = fact.sessionId == null ? null : draft.requireSession(fact.sessionId).row;
    const userId = fact.userId ?? (fact.isAnonymous ? null : (session?.userId ?? null));
    const fingerprint = fact.deviceFingerprint ?? session?.fingerprint ?? null;
    const metadata = fact.metadata ?? null;
    const anomaly: RecordRow<typeof ANOMALIES> = {
      integrationId: draft.integrationId,
      id: fact.anomalyId,
      type: fact.anomalyType,
      severity: fact.severity,
      detectedAt: fact.detectedAt,
      sessionId: fact.sessionId ?? null,
      userId,
      fingerprint,
      metadata:
        fact.anomalyType === 'SharedDevice'
          ? hideFingerprint(metadata, fingerprint, session?.fingerprint ?? null)
          : metadata,
      ...UNTOUCHED,
    };
    const existing = draft.findRecord(ANOMALIES, anomaly);
    if (existing) {
      // The session may have got another user since.
      const repeated = fact.userId == null && !fact.isAnonymous ? { ...anomaly, userId: existing.userId } : anomaly;
      return draft.repeat(fact.kind, anomaly.id, isSameRecord({ ...existing, ...UNTOUCHED }, repeated));
    }
    draft.assertNotAhead('detectedAt', fact.detectedAt);
    const isSuppressible = (SUPPRESSED_ANOMALY_TYPES as readonly string[]).includes(fact.anomalyType);
    if (isSuppressible && draft.isConfirmed(userId, fingerprint)) return 'suppressed';
    draft.addRecord(ANOMALIES, anomaly);
    draft.fireEvent('SessionAnomaly', {
      anomalyId: anomaly.id,
      anomalyType: anomaly.type,
      severity: anomaly.severity,
      detectedAt: anomaly.detectedAt,
      sessionId: anomaly.sessionId,
      userId,
      metadata: anomaly.metadata,
    });
    return 'accepted';
  },
});

const MAX_ID_LENGTH = 256;

const cutFingerprint = (fingerprint: string) => [...fingerprint].slice(0, SHOWN_FINGERPRINT_LENGTH).join('');

/**
 * Shortens the fingerprint everywhere in the metadata, also within texts and keys, and adds the short form if the metadata has no
 * `deviceFingerprint` (specification: SessionAnomaly).
 */
function hideFingerprint(
  metadata: Record<string, unknown> | null,
  fingerprint: string | null,
  sessionFingerprint: string | null,
) {
  const named = metadata && Object.hasOwn(metadata, 'deviceFingerprint') ? metadata.deviceFingerprint : undefined;
  // The metadata's own `deviceFingerprint` is shortened too, even if the fact names none or another one.
  const secrets = [fingerprint, sessionFingerprint, named]
    .filter((value) => typeof value === 'string')
    .filter(({ length }) => length > SHOWN_FINGERPRINT_LENGTH)
    // One may contain another.
    .sort((one, other) => other.length - one.length);
  const hidden = cutStrings(metadata, secrets) as Record<string, unknown> | null;
  if (fingerprint === null || named !== undefined) return hidden;
  return { ...hidden, deviceFingerprint: cutFingerprint(fingerprint) };
}

function cutStrings(value: unknown, secrets: string[]): unknown {
  if (typeof value === 'string') return cutWithin(value, secrets);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => cutStrings(item, secrets));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [cutWithin(key, secrets), cutStrings(item, secrets)]),
  );
}

function cutWithin(text: string, secrets: string[]): string {
  if (secrets.includes(text)) return cutFingerprint(text);
  // A longer one is no id, whose characters may have two units, and to look for it in long texts takes long.
  const ids = secrets.filter(({ length }) => length <= 2 * MAX_ID_LENGTH);
  return ids.reduce((rest, id) => rest.replaceAll(id, () => cutFingerprint(id)), text);
}
