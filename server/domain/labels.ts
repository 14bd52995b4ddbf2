import { and, desc, eq, sql } from 'drizzle-orm';
import { ApiError } from '../../contract/errors';
import type {
  LabelSessionInput,
  RemoveLabelInput,
  Session,
  SessionLabel,
  SetVerdict,
  SetVerdictInput,
  UndoVerdictInput,
  Verdict,
} from '../../contract/sessions';
import type { Transaction } from '../../db/client';
import { integrations, sessionScores, sessions, sessionVerdicts } from '../../db/schema';
import { type AuditedContext, recordAct } from '../audit/acts';
import type { DomainContext } from './context';

// Labels of sessions. Each change writes a row of the history and an entry of the audit log in its transaction. Nothing updates a
// row of the history, and only the retention of sessions removes it.

type LabelingContext = DomainContext & AuditedContext;
type LabelRow = Pick<typeof sessions.$inferSelect, 'label' | 'labelConfidence' | 'labelNotes' | 'labeledAt'>;
type VerdictRow = typeof sessionVerdicts.$inferSelect;

/** What a label says. A label of null means that the session has none. */
type Decision = Pick<VerdictRow, 'label' | 'confidence' | 'reasons' | 'notes'>;

/** A session before a change, and what is recorded of it. */
type LockedSession = LabelRow & Pick<VerdictRow, 'botScore' | 'ruleSetVersion' | 'mediumAt' | 'botAt'>;

const NO_LABEL: Decision = { label: null, confidence: null, reasons: [], notes: null };

/** Labels a session as bot or human. A new label replaces the old one (specification: Rule 3). NOT_FOUND as getSession. */
export async function labelSession(context: LabelingContext, input: LabelSessionInput): Promise<SessionLabel> {
  const { sessionId, verdict, confidence = null, notes = null } = input;
  const row = await context.db.orm.transaction(async (tx) => {
    const before = await lockSession(tx, context, sessionId);
    return decide(tx, context, sessionId, before, { label: toLabel(verdict), confidence, reasons: [], notes });
  });
  return { sessionId, ...showLabel(row)! };
}

/**
 * Labels a session for staff, and keeps what is not given: confidence and notes, and the reasons if the verdict stays. Also
 * returns the label before, null if there was none. With `seenLabeledAt`, another label stays: INVALID_REQUEST that names the
 * field. NOT_FOUND as getSession.
 */
export async function setVerdict(context: LabelingContext, input: SetVerdictInput): Promise<SetVerdict> {
  const { sessionId, confidence, notes, seenLabeledAt } = input;
  return context.db.orm.transaction(async (tx) => {
    const before = await lockSession(tx, context, sessionId);
    if (seenLabeledAt !== undefined && seenLabeledAt !== before.labeledAt) throw labeledSince('seenLabeledAt');
    const label = toLabel(input.verdict);
    const keepsReasons = label === before.label && input.reasons === undefined;
    const reasons = keepsReasons ? await readReasons(tx, context, sessionId) : (input.reasons ?? []);
    const row = await decide(tx, context, sessionId, before, {
      label,
      confidence: confidence === undefined ? before.labelConfidence : confidence,
      reasons,
      notes: notes === undefined ? before.labelNotes : notes,
    });
    const shown = showLabel(before);
    const previous = shown && { verdict: shown.verdict, labeledAt: shown.labeledAt };
    return { sessionId, ...showLabel(row)!, reasons, previous };
  });
}

/**
 * Undoes the label of `labeledAt`: brings back the label of `previousLabeledAt` with all that it said, or none. If somebody has
 * labelled the session since, that label stays: INVALID_REQUEST that names `labeledAt`. NOT_FOUND as getSession.
 */
export async function undoVerdict(
  context: LabelingContext,
  { sessionId, labeledAt, previousLabeledAt }: UndoVerdictInput,
): Promise<{ label: Session['label'] }> {
  return context.db.orm.transaction(async (tx) => {
    const before = await lockSession(tx, context, sessionId);
    if (before.labeledAt !== labeledAt) throw labeledSince('labeledAt');
    const decision =
      previousLabeledAt === null ? NO_LABEL : await findDecision(tx, context, sessionId, previousLabeledAt);
    return { label: showLabel(await decide(tx, context, sessionId, before, decision, true)) };
  });
}

/** Removes the label of `labeledAt`, so that the score decides again. Refuses as `undoVerdict`. */
export async function removeLabel(
  context: LabelingContext,
  { sessionId, labeledAt }: RemoveLabelInput,
): Promise<{ label: null }> {
  await context.db.orm.transaction(async (tx) => {
    const before = await lockSession(tx, context, sessionId);
    if (before.labeledAt !== labeledAt) throw labeledSince('labeledAt');
    await decide(tx, context, sessionId, before, NO_LABEL);
  });
  return { label: null };
}

/** Shows the label of a session, null if it has none. */
export function showLabel({ label, labelConfidence, labelNotes, labeledAt }: LabelRow): Session['label'] {
  if (label === null || labeledAt === null) return null;
  return { verdict: showVerdict(label), confidence: labelConfidence, notes: labelNotes, labeledAt };
}

/** Shows the verdict of a stored label. */
export const showVerdict = (label: 1 | -1): Verdict => (label === 1 ? 'bot' : 'human');

const toLabel = (verdict: Verdict) => (verdict === 'bot' ? 1 : -1);

const isSession = (context: DomainContext, sessionId: string) =>
  and(eq(sessions.integrationId, context.integration.id), eq(sessions.id, sessionId));

const isVerdictOf = (context: DomainContext, sessionId: string) =>
  and(eq(sessionVerdicts.integrationId, context.integration.id), eq(sessionVerdicts.sessionId, sessionId));

/** Locks the session, so that changes of its label come one after the other, and their entries are in the same order. */
async function lockSession(tx: Transaction, context: DomainContext, sessionId: string): Promise<LockedSession> {
  await tx.select({ id: sessions.id }).from(sessions).where(isSession(context, sessionId)).for('no key update');
  // By another statement: one that waits for the lock sees other tables as they were before.
  const { label, labelConfidence, labelNotes, labeledAt, botScore } = sessions;
  const { mediumAt, botAt } = integrations;
  const isScore = and(
    eq(sessionScores.integrationId, sessions.integrationId),
    eq(sessionScores.sessionId, sessions.id),
    eq(sessionScores.scoredAt, sessions.scoredAt),
  );
  const [row] = await tx
    .select({
      ...{ label, labelConfidence, labelNotes, labeledAt, botScore, mediumAt, botAt },
      ruleSetVersion: sessionScores.ruleSetVersion,
    })
    .from(sessions)
    .innerJoin(integrations, eq(integrations.id, sessions.integrationId))
    .leftJoin(sessionScores, isScore)
    .where(isSession(context, sessionId));
  if (!row) throw new ApiError('NOT_FOUND', 'Session not found');
  return row;
}

async function readReasons(tx: Transaction, context: DomainContext, sessionId: string) {
  const [latest] = await tx
    .select({ reasons: sessionVerdicts.reasons })
    .from(sessionVerdicts)
    .where(isVerdictOf(context, sessionId))
    .orderBy(desc(sessionVerdicts.entry))
    .limit(1);
  return latest?.reasons ?? [];
}

async function findDecision(tx: Transaction, context: DomainContext, sessionId: string, decidedAt: string) {
  const { label, confidence, reasons, notes } = sessionVerdicts;
  const [found] = await tx
    .select({ label, confidence, reasons, notes })
    .from(sessionVerdicts)
    .where(and(isVerdictOf(context, sessionId), eq(sessionVerdicts.decidedAt, decidedAt)))
    .orderBy(desc(sessionVerdicts.entry))
    .limit(1);
  if (found) return found;
  throw new ApiError('INVALID_REQUEST', 'previousLabeledAt: the session had no such label', {
    field: 'previousLabeledAt',
  });
}

/** Later than the change before, so that the time names the label. */
const CHANGED_AT = sql<string>`greatest(now(), ${sessions.updatedAt} + interval '1 millisecond')`;

/** Puts a decision on the locked session and writes it down, with what the session looked like. */
async function decide(
  tx: Transaction,
  context: LabelingContext,
  sessionId: string,
  before: LockedSession,
  decision: Decision,
  isUndo = false,
): Promise<LabelRow> {
  const { actor, integration } = context;
  const { label, confidence, notes } = decision;
  const by = actor.kind === 'Operator' ? { id: null, name: null } : actor;
  const [row] = await tx
    .update(sessions)
    .set({
      ...{ label, labelConfidence: confidence, labelNotes: notes },
      labeledAt: label === null ? null : CHANGED_AT,
      labeledBy: label === null ? null : by.name,
      updatedAt: CHANGED_AT,
    })
    .where(isSession(context, sessionId))
    .returning();
  const { botScore, ruleSetVersion, mediumAt, botAt } = before;
  await tx.insert(sessionVerdicts).values({
    ...{ integrationId: integration.id, sessionId, decidedAt: row!.updatedAt!, ...decision, isUndo },
    ...{ actorKind: actor.kind, actorId: by.id, actorName: by.name },
    ...{ botScore, ruleSetVersion, mediumAt, botAt },
  });
  await recordAct(tx, actor, {
    action: isUndo ? 'LabelUndone' : label === null ? 'LabelRemoved' : 'SessionLabeled',
    ...{ integrationId: integration.id, subjectId: sessionId },
    // Without the notes: an entry stays longer than the session that they are about.
    details: {
      before: before.label && showVerdict(before.label),
      after: label && showVerdict(label),
      ...{ confidence, reasons: decision.reasons },
    },
  });
  return row!;
}

const labeledSince = (field: string) =>
  new ApiError('INVALID_REQUEST', `${field}: somebody has labelled the session since`, { field });
