import { and, eq, sql } from 'drizzle-orm';
import { ApiError } from '../../contract/errors';
import type {
  LabelSessionInput,
  Session,
  SessionLabel,
  SetVerdict,
  SetVerdictInput,
  UndoVerdictInput,
  Verdict,
} from '../../contract/sessions';
import { selectColumns } from '../../db/recordset';
import { sessions } from '../../db/schema';
import type { Actor, AuditedContext } from '../audit/acts';
import type { DomainContext } from './context';

type LabelingContext = DomainContext & AuditedContext;
type LabelRow = Pick<typeof sessions.$inferSelect, 'label' | 'labelConfidence' | 'labelNotes' | 'labeledAt'>;

const NO_LABEL = { label: null, labelConfidence: null, labelNotes: null, labeledAt: null, labeledBy: null };

const verdictColumns = (verdict: Verdict, actor: Actor) => ({
  label: verdict === 'bot' ? (1 as const) : (-1 as const),
  labeledBy: actor.kind === 'Operator' ? null : actor.name,
});

const isSession = (context: DomainContext, sessionId: string) =>
  and(eq(sessions.integrationId, context.integration.id), eq(sessions.id, sessionId));

/** Labels a session as bot or human. A new label replaces the old one (specification: Rule 3). NOT_FOUND as getSession. */
export async function labelSession(context: LabelingContext, input: LabelSessionInput): Promise<SessionLabel> {
  const [row] = await context.db.orm
    .update(sessions)
    .set({
      ...verdictColumns(input.verdict, context.actor),
      labelConfidence: input.confidence ?? null,
      labelNotes: input.notes ?? null,
      labeledAt: sql`now()`,
      updatedAt: sql`now()`,
    })
    .where(isSession(context, input.sessionId))
    .returning();
  if (!row) throw notFound();
  return { sessionId: input.sessionId, ...showLabel(row)! };
}

/** The previous label is read in the same statement, under the lock of the change. */
const SET_VERDICT = `
  update sessions s set label = $3, labeled_at = now(), labeled_by = $4, updated_at = now()
    from (select label, labeled_at from sessions where integration_id = $1 and id = $2 for update) before
   where s.integration_id = $1 and s.id = $2
  returning ${selectColumns(sessions, 's', ['label', 'labelConfidence', 'labelNotes', 'labeledAt'])},
            before.label as "labelBefore", before.labeled_at as "labeledAtBefore"`;

type ChangedRow = LabelRow & { labelBefore: LabelRow['label']; labeledAtBefore: LabelRow['labeledAt'] };

/**
 * Labels a session, and keeps the confidence and the notes that an earlier label has. Also returns that label, null if there was
 * none. NOT_FOUND as getSession.
 */
export async function setVerdict(context: LabelingContext, input: SetVerdictInput): Promise<SetVerdict> {
  const { label, labeledBy } = verdictColumns(input.verdict, context.actor);
  const [row] = await context.db.query<ChangedRow>(SET_VERDICT, [
    ...[context.integration.id, input.sessionId, label, labeledBy],
  ]);
  if (!row) throw notFound();
  const { labelBefore, labeledAtBefore } = row;
  const previous =
    labelBefore && labeledAtBefore ? { verdict: showVerdict(labelBefore), labeledAt: labeledAtBefore } : null;
  return { sessionId: input.sessionId, ...showLabel(row)!, previous };
}

/**
 * Undoes the label of `labeledAt`: sets the verdict that was before it, or removes the label if there was none. If somebody has
 * labelled the session since, that label stays: INVALID_REQUEST that names `labeledAt`. NOT_FOUND as getSession.
 */
export async function undoVerdict(
  context: LabelingContext,
  { sessionId, labeledAt, verdict }: UndoVerdictInput,
): Promise<{ label: Session['label'] }> {
  const columns = verdict === null ? NO_LABEL : { ...verdictColumns(verdict, context.actor), labeledAt: sql`now()` };
  const [row] = await context.db.orm
    .update(sessions)
    .set({ ...columns, updatedAt: sql`now()` })
    .where(and(isSession(context, sessionId), eq(sessions.labeledAt, labeledAt)))
    .returning();
  if (row) return { label: showLabel(row) };
  const [other] = await context.db.orm.select({ id: sessions.id }).from(sessions).where(isSession(context, sessionId));
  if (!other) throw notFound();
  throw new ApiError('INVALID_REQUEST', 'labeledAt: somebody has labelled the session since', { field: 'labeledAt' });
}

/** Shows the label of a session, null if it has none. */
export function showLabel({ label, labelConfidence, labelNotes, labeledAt }: LabelRow): Session['label'] {
  if (label === null || labeledAt === null) return null;
  return { verdict: showVerdict(label), confidence: labelConfidence, notes: labelNotes, labeledAt };
}

const showVerdict = (label: 1 | -1): Verdict => (label === 1 ? 'bot' : 'human');

const notFound = () => new ApiError('NOT_FOUND', 'Session not found');
