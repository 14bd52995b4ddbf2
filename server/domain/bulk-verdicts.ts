import { findApiError } from '../../contract/errors';
import type { SetVerdicts, SetVerdictsInput, UndoVerdicts, UndoVerdictsInput } from '../../contract/review';
import type { AuditedContext } from '../audit/acts';
import type { DomainContext } from './context';
import { setVerdict, undoVerdict } from './labels';

type LabelingContext = DomainContext & AuditedContext;

/** So many at a time, so that one call does not take all connections. */
const CONCURRENT = 4;

/** Labels sessions, each by itself: all of a session's label, history and audit entry, or nothing. Says which failed and why. */
export async function setVerdicts(
  context: LabelingContext,
  { sessions, ...verdict }: SetVerdictsInput,
): Promise<SetVerdicts> {
  const each = [...new Map(sessions.map((session) => [session.sessionId, session])).values()];
  const { done, failed } = await tryEach(each, (session) => setVerdict(context, { ...verdict, ...session }));
  return { labeled: done, failed };
}

/** Undoes labels, each by itself. A label that somebody has replaced since stays, and is among those that failed. */
export async function undoVerdicts(context: LabelingContext, { verdicts }: UndoVerdictsInput): Promise<UndoVerdicts> {
  const { done, failed } = await tryEach(verdicts, async (verdict) => {
    await undoVerdict(context, verdict);
    return verdict.sessionId;
  });
  return { undone: done, failed };
}

/** Calls `act` for each item, a few at a time. What the API refuses is a failure of that item; anything else ends the whole. */
async function tryEach<Item extends { sessionId: string }, Result>(
  items: readonly Item[],
  act: (item: Item) => Promise<Result>,
) {
  const done: Result[] = [];
  const failed: SetVerdicts['failed'] = [];
  const left = items.values();
  const work = async () => {
    for (const item of left) {
      try {
        done.push(await act(item));
      } catch (error) {
        const refusal = findApiError(error);
        if (!refusal) throw error;
        failed.push({ sessionId: item.sessionId, message: refusal.message });
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, work));
  return { done, failed };
}
