import { createHash } from 'node:crypto';
import { isPathId } from '../../contract/fields';
import { scoreWriting } from '../detection/writing-score';
import type { Fact } from '../pipeline/facts';
import { coversBatch } from './coverage';
import type { KeptBatch, NamedUser } from './packing';
import type { OpenSession, Progress } from './session-state';
import { findConfidence, findForeignDocuments } from './visitors';

const ID_LENGTH = 22;

/** Scores the texts that were written in the batches of a cut. The same cut gives the same facts. */
export function listWritingFacts(
  { integrationId, sessionId, batches }: OpenSession,
  { covered, cutAt, user }: Progress,
): Fact[] {
  const known = batches.filter((batch) => coversBatch(covered, batch));
  const userId = findWriter(known, user);
  return scoreWriting(known).map(({ key, documentId, aiScore, wordCount, evidence }) => ({
    kind: 'writingScored',
    sessionId: nameWritingSession(integrationId, sessionId, key),
    aiScore,
    scoredAt: cutAt,
    userId,
    // The page may give ids that no fact may have.
    documentId: documentId !== null && isPathId(documentId) ? documentId : null,
    wordCount,
    browsingSessionId: sessionId,
    evidence,
  }));
}

/**
 * The user who was told last. Nobody, if pages of the session named another one as surely, or if something was written on a page that
 * does not name the user: the text may be somebody else's.
 */
function findWriter(batches: readonly KeptBatch[], user: NamedUser | null): string | null {
  if (!user) return null;
  const isOther = (named: NamedUser) => named.id !== user.id && findConfidence(named) === findConfidence(user);
  const foreign = findForeignDocuments(batches, user);
  return batches.some(({ d, w, user: named }) => (named && isOther(named)) || (w && foreign.has(d))) ? null : user.id;
}

/** Names the text of a session, always the same. */
function nameWritingSession(...cause: [integrationId: string, sessionId: string, key: string]): string {
  const hash = createHash('sha256').update(JSON.stringify(cause)).digest('base64url');
  return `wri_${hash.slice(0, ID_LENGTH)}`;
}
