import { ApiError, findApiError, OUTAGE_MESSAGE } from '../../contract/errors';
import type { SetVerdicts, SetVerdictsInput, UndoVerdicts, UndoVerdictsInput } from '../../contract/review';
import { isUnavailable } from '../../db/client';
import type { AuditedContext } from '../audit/acts';
import type { DomainContext } from './context';
import { setVerdict, undoVerdict } from './labels';

type LabelingContext = DomainContext & AuditedContext;

/** So many at a time, so that one call does not take all connections. */
const CONCURRENT = 4;
const OUTAGE = new ApiError('SERVICE_UNAVAILABLE', OUTAGE_MESSAGE);

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

/**
 * Calls `act` for each item, a few at a time. What the API refuses is a failure of that item. If the database cannot work, the items that
 * are left fail too, so that the answer says what was done before. Anything else, and an outage before anything was done, ends the whole.
 */
async function tryEach<Item extends { sessionId: string }, Result>(
  items: readonly Item[],
  act: (item: Item) => Promise<Result>,
) {
  const done: Result[] = [];
  const failed: SetVerdicts['failed'] = [];
  const left = items.values();
  let fault: unknown = null;
  const work = async () => {
    for (const item of left) {
      try {
        if (fault !== null) throw OUTAGE;
        done.push(await act(item));
      } catch (error) {
        const refusal = findApiError(error);
        if (!refusal) fault ??= error;
        failed.push({ sessionId: item.sessionId, message: (refusal ?? OUTAGE).message });
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, work));
  if (fault !== null && (done.length === 0 || !isUnavailable(fault))) throw fault;
  return { done, failed };
}
