import type { Finding } from '../../../contract/evidence';
import type { Anomaly } from '../../../contract/findings';
import { getUser } from '../../domain/directories';
import { summariseFindings } from '../../domain/session-evidence';
import { defineTemplate, type ReportContext, type ReportSection } from '../template';
import { type ReportedSession, readSessionRows, SESSION_REPORT_COLUMNS, UNCERTAIN_USERS } from './session-rows';

/** The most anomalies that the file lists. */
const MAX_ANOMALIES = 200;

type EvidenceRow = ReportedSession & { findings: string[]; ruleSetVersion: string | null };

/** What was seen in the sessions of one user, and why each has its score. */
export const userEvidence = defineTemplate<EvidenceRow>({
  id: 'user-evidence',
  name: 'User evidence file',
  about: `The sessions of one user in a window, with what the rules found in each, and the anomalies of the user. ${UNCERTAIN_USERS}`,
  listTitle: 'Sessions in the window',
  columns: [
    // The head of the document names the user, so each row has room for more.
    ...SESSION_REPORT_COLUMNS.map((column) =>
      ['userId', 'userName'].includes(column.key) ? { ...column, isPrinted: false } : column,
    ),
    { key: 'findings', title: 'What was found', isPrinted: true, value: ({ findings }) => findings },
    { key: 'ruleSetVersion', title: 'Rules', value: ({ ruleSetVersion }) => ruleSetVersion },
  ],
  async assertSubject(context) {
    await getUser(context, { userId: context.parameters.userId! });
  },
  summarise: async (context) => [await summariseUser(context), await listUserAnomalies(context)],
  async readRows(context, after, limit) {
    const { userId } = context.parameters;
    const { rows, next } = await readSessionRows(context, { userId }, after, limit);
    return { rows: await addFindings(context, rows), next };
  },
});

async function summariseUser(context: ReportContext): Promise<ReportSection> {
  const user = await getUser(context, { userId: context.parameters.userId! });
  return {
    key: 'user',
    title: 'User, of all time',
    numbers: [
      { key: 'id', title: 'User', value: user.id },
      { key: 'name', title: 'Name', value: user.name },
      { key: 'email', title: 'Email', value: user.email },
      { key: 'sessionCount', title: 'Sessions', value: user.sessionCount },
      { key: 'botSessionCount', title: 'Sessions classed as bot', value: user.botSessionCount },
      { key: 'averageBotScore', title: 'Average score', value: user.averageBotScore },
      { key: 'maxBotScore', title: 'Highest score', value: user.maxBotScore },
      { key: 'deviceCount', title: 'Devices', value: user.deviceCount },
      { key: 'confirmedDeviceCount', title: 'Confirmed devices', value: user.confirmedDeviceCount },
      { key: 'anomalyCount', title: 'Anomalies', value: user.anomalyCount },
      { key: 'correlationConfidence', title: 'Confidence of correlation', value: user.correlationConfidence },
      { key: 'firstSeenAt', title: 'First seen', value: user.firstSeenAt },
      { key: 'lastSeenAt', title: 'Last seen', value: user.lastSeenAt },
    ],
  };
}

type AnomalyRow = Pick<Anomaly, 'id' | 'anomalyType' | 'severity' | 'detectedAt' | 'sessionId'>;

/** Lists the newest anomalies of the window. */
async function listUserAnomalies({
  db,
  integration,
  parameters,
  startAt,
  endAt,
}: ReportContext): Promise<ReportSection> {
  const rows = await db.query<AnomalyRow>(READ_ANOMALIES, [
    ...[integration.id, parameters.userId!, startAt, endAt, MAX_ANOMALIES + 1],
  ]);
  const hasMore = rows.length > MAX_ANOMALIES;
  return {
    key: 'anomalies',
    title: hasMore ? `The newest ${MAX_ANOMALIES} anomalies in the window; there are more` : 'Anomalies in the window',
    table: {
      hasMore,
      columns: [
        { key: 'detectedAt', title: 'Detected' },
        { key: 'anomalyType', title: 'Type' },
        { key: 'severity', title: 'Severity' },
        { key: 'sessionId', title: 'Session' },
        { key: 'id', title: 'Anomaly' },
      ],
      rows: rows
        .slice(0, MAX_ANOMALIES)
        .map(({ detectedAt, anomalyType, severity, sessionId, id }) => [
          ...[detectedAt, anomalyType, severity, sessionId, id],
        ]),
    },
  };
}

const READ_ANOMALIES = `
  select id, type as "anomalyType", severity, detected_at as "detectedAt", session_id as "sessionId"
    from anomalies
   where integration_id = $1 and user_id = $2 and detected_at >= $3::timestamptz and detected_at < $4::timestamptz
   order by detected_at desc, id desc limit $5::int`;

interface ScoreRow {
  sessionId: string;
  ruleSetVersion: string | null;
  findings: Finding[] | null;
}

async function addFindings({ db, integration }: ReportContext, rows: ReportedSession[]): Promise<EvidenceRow[]> {
  const ids = JSON.stringify(rows.map(({ id }) => id));
  const scores = rows.length === 0 ? [] : await db.query<ScoreRow>(READ_FINDINGS, [integration.id, ids]);
  const bySession = new Map(scores.map((score) => [score.sessionId, score]));
  return rows.map((row) => {
    const score = bySession.get(row.id);
    return {
      ...row,
      ruleSetVersion: score?.ruleSetVersion ?? null,
      findings: summariseFindings(score?.findings ?? []).map(writeFinding),
    };
  });
}

/** `zero-pressure: 0.97 (usual: below 0.5)`. */
function writeFinding({ flag, measured, expected }: Omit<Finding, 'state' | 'moments'>): string {
  const usual = expected === null ? '' : ` (usual: ${expected})`;
  return measured === null ? flag : `${flag}: ${measured}${usual}`;
}

/** The session's own score is the latest of its scores. */
const READ_FINDINGS = `
  select c.session_id as "sessionId", c.rule_set_version as "ruleSetVersion", c.evidence as findings
    from json_array_elements_text($2::text::json) named(id)
    cross join lateral (
      select * from session_scores c where c.integration_id = $1 and c.session_id = named.id
       order by c.scored_at desc limit 1) c`;
