import { createHash } from 'node:crypto';
import { isPathId } from '../../contract/fields';
import { scoreWriting } from '../detection/writing-score';
import type { Fact } from '../pipeline/facts';
import { coversBatch } from './coverage';
import type { OpenSession, Progress } from './session-state';

const ID_LENGTH = 22;

/** Scores the texts that were written in the batches of a cut. The same cut gives the same facts. */
export const listWritingFacts = (
  { integrationId, sessionId, batches }: OpenSession,
  { covered, cutAt, user }: Progress,
): Fact[] =>
  scoreWriting(batches.filter((batch) => coversBatch(covered, batch))).map(
    ({ key, documentId, aiScore, wordCount, evidence }) => ({
      kind: 'writingScored',
      sessionId: nameWritingSession(integrationId, sessionId, key),
      aiScore,
      scoredAt: cutAt,
      userId: user?.id ?? null,
      // The page may give ids that no fact may have.
      documentId: documentId !== null && isPathId(documentId) ? documentId : null,
      wordCount,
      browsingSessionId: sessionId,
      evidence,
    }),
  );

/** Names the text of a session, always the same. */
function nameWritingSession(...cause: [integrationId: string, sessionId: string, key: string]): string {
  const hash = createHash('sha256').update(JSON.stringify(cause)).digest('base64url');
  return `wri_${hash.slice(0, ID_LENGTH)}`;
}
