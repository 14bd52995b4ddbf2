import { createHash } from 'node:crypto';
import { isPathId } from '../../contract/fields';
import { scoreWriting } from '../detection/writing-score';
import type { Fact } from '../pipeline/facts';
import type { KeptBatch } from './packing';
import type { OpenSession, Progress } from './session-state';

const ID_LENGTH = 22;

/** Scores the texts that were written in a session. The same batches give the same facts. */
export const listWritingFacts = (
  { integrationId, sessionId }: Pick<OpenSession, 'integrationId' | 'sessionId'>,
  { cutAt, user }: Pick<Progress, 'cutAt' | 'user'>,
  batches: readonly KeptBatch[],
): Fact[] =>
  scoreWriting(batches).map(({ documentId, aiScore, wordCount, evidence }) => ({
    kind: 'writingScored',
    sessionId: nameWritingSession(integrationId, sessionId, documentId),
    aiScore,
    scoredAt: cutAt,
    userId: user?.id ?? null,
    // The page may give ids that no fact may have.
    documentId: documentId !== null && isPathId(documentId) ? documentId : null,
    wordCount,
    browsingSessionId: sessionId,
    evidence,
  }));

/** Names the text of a session, always the same. */
function nameWritingSession(...cause: [integrationId: string, sessionId: string, documentId: string | null]): string {
  const hash = createHash('sha256').update(JSON.stringify(cause)).digest('base64url');
  return `wri_${hash.slice(0, ID_LENGTH)}`;
}
