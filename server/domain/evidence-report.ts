import { ApiError } from '../../contract/errors';
import type { Finding } from '../../contract/evidence';
import type { EvidenceReport, ReportedVerdict } from '../../contract/evidence-report';
import { cutText } from '../../contract/fields';
import type { VisitedPage } from '../../contract/session-context';
import type { sessions } from '../../db/schema';
import { type Actor, nameActor } from '../audit/acts';
import { describeLimits, describeRule, LABORATORY } from '../detection/report-words';
import { listAnomalies } from './anomalies';
import type { DomainContext } from './context';
import { describeMatch } from './correlation';
import { showLabel } from './labels';
import { classifyRisk } from './risk';
import { listVisitedPages } from './visited-pages';

// One report has at most so many of each. It is printed, and JSON of any length helps nobody.
const MAX_SCORES = 100;
const MAX_VERDICTS = 100;
const MAX_MATCHES = 20;
const MAX_PAGES = 200;
const MAX_ANOMALIES = 50;
/** Of the address of a visited page. A visitor can make it as long as 2,000 characters. */
const MAX_ADDRESS_LENGTH = 300;

type SessionRow = typeof sessions.$inferSelect;
type SubjectRow = SessionRow & {
  integrationName: string;
  userName: string | null;
  userEmail: string | null;
  userUrl: string | null;
  confirmedAt: string | null;
  lastEventAt: string | null;
  eventCounts: Record<string, number>;
  ruleSetVersion: string | null;
  findings: Finding[] | null;
};

/**
 * Reads everything that is known about one session as a document: the dashboard prints it, and answers it as JSON. NOT_FOUND as
 * getSession.
 */
export async function getEvidenceReport(
  context: DomainContext & { actor: Actor },
  { sessionId }: { sessionId: string },
): Promise<EvidenceReport> {
  const { db, integration, actor } = context;
  const key = [integration.id, sessionId];
  const [[row], scores, verdicts, matches, pages, anomalies] = await Promise.all([
    db.query<SubjectRow>(READ_SUBJECT, key),
    db.query<EvidenceReport['scores']['list'][number]>(READ_SCORES, [...key, MAX_SCORES + 1]),
    db.query<VerdictRow>(READ_VERDICTS, [...key, MAX_VERDICTS + 1]),
    db.query<EvidenceReport['matches']['list'][number]>(READ_MATCHES, [...key, MAX_MATCHES + 1]),
    listVisitedPages(context, { sessionId, cursor: 0 }, MAX_PAGES),
    listAnomalies(context, { sessionId, sort: 'newest', pageSize: MAX_ANOMALIES }),
  ]);
  if (!row) throw new ApiError('NOT_FOUND', 'Session not found');
  const findings = (row.findings ?? []).toSorted((a, b) => b.weight - a.weight);
  const { mediumAt, botAt } = integration;
  const { ruleSetVersion } = row;
  const label = showLabel(row);
  return {
    generatedAt: new Date().toISOString(),
    generatedBy: nameActor(actor),
    timeZone: 'UTC',
    integration: { id: integration.id, name: row.integrationName },
    session: {
      ...{ id: row.id, status: row.status, startedAt: row.createdAt, closedAt: row.closedAt },
      ...{ lastEventAt: row.lastEventAt, failureReason: row.failureReason, firstPage: row.pageUrl, origin: row.origin },
      ...{ courseId: row.courseId, country: row.country, eventCounts: row.eventCounts },
    },
    score: {
      ...{ botScore: row.botScore, riskLevel: classifyRisk(row.effectiveBin, integration), scoredAt: row.scoredAt },
      ...{ ruleSetVersion, thresholds: { mediumAt, botAt } },
    },
    label: label && { ...label, labeledBy: row.labeledBy },
    limits: describeLimits({
      ruleSetVersion,
      notMeasured: findings.filter(({ state }) => state === 'notMeasured').length,
      isScored: row.botScore !== null,
    }),
    laboratory: LABORATORY,
    findings: findings.map((finding) => ({ ...finding, ...describeRule(finding.flag) })),
    scores: cut(scores, MAX_SCORES),
    verdicts: cut(verdicts.map(showVerdict), MAX_VERDICTS),
    device: {
      ...{ fingerprint: row.fingerprint, type: row.deviceType, browser: row.userAgentSummary },
      ...{ userAgent: row.userAgent, confirmedAt: row.confirmedAt },
    },
    user: showUser(row),
    matches: cut(matches, MAX_MATCHES),
    pages: {
      list: pages.pages.map(shortenAddress),
      total: pages.total,
      hasMore: pages.hasMore || pages.nextCursor !== null,
    },
    anomalies: {
      list: anomalies.data,
      hasMore: anomalies.pagination.hasMore,
    },
  };
}

const cut = <T>(list: T[], limit: number) => ({ list: list.slice(0, limit), hasMore: list.length > limit });

function shortenAddress({ url, ...page }: VisitedPage): VisitedPage {
  const isLong = url.length > MAX_ADDRESS_LENGTH;
  return { ...page, url: isLong ? `${cutText(url, MAX_ADDRESS_LENGTH)} … (${url.length} characters)` : url };
}

function showUser(row: SubjectRow): EvidenceReport['user'] {
  if (row.userId === null) return null;
  return {
    ...{ id: row.userId, name: row.userName, email: row.userEmail, url: row.userUrl },
    ...{ confidence: row.correlationConfidence, matchedAt: row.correlatedAt, match: describeMatch(row) },
  };
}

interface VerdictRow extends Omit<ReportedVerdict, 'verdict' | 'author' | 'thresholds'> {
  label: 1 | -1 | null;
  actorKind: ReportedVerdict['author']['kind'];
  actorName: string | null;
  mediumAt: number | null;
  botAt: number | null;
}

const showVerdict = ({ label, actorKind, actorName, mediumAt, botAt, ...row }: VerdictRow): ReportedVerdict => ({
  ...row,
  verdict: label === null ? null : label === 1 ? 'bot' : 'human',
  author: { kind: actorKind, name: actorName },
  thresholds: mediumAt === null || botAt === null ? null : { mediumAt, botAt },
});

/** Score and findings are read together, so that they belong to each other. */
const READ_SUBJECT = `
  select s.id, s.status, s.created_at as "createdAt", s.closed_at as "closedAt", s.failure_reason as "failureReason",
         s.page_url as "pageUrl", s.origin, s.course_id as "courseId", s.country, s.bot_score as "botScore",
         s.effective_bin as "effectiveBin", s.scored_at as "scoredAt", s.label, s.label_confidence as "labelConfidence",
         s.label_notes as "labelNotes", s.labeled_at as "labeledAt", s.labeled_by as "labeledBy", s.fingerprint,
         s.device_type as "deviceType", s.user_agent_summary as "userAgentSummary", s.user_agent as "userAgent",
         s.user_id as "userId", s.correlation_confidence as "correlationConfidence", s.correlated_at as "correlatedAt",
         s.is_inferred as "isInferred", i.name as "integrationName", u.name as "userName", u.email as "userEmail",
         u.url as "userUrl", d.confirmed_at as "confirmedAt", e."lastEventAt", e."eventCounts",
         c.rule_set_version as "ruleSetVersion", c.evidence as findings
    from sessions s
    join integrations i on i.id = s.integration_id
    left join users u on u.integration_id = s.integration_id and u.id = s.user_id
    left join device_confirmations d
      on d.integration_id = s.integration_id and d.user_id = s.user_id and d.fingerprint = s.fingerprint
    left join session_scores c
      on c.integration_id = s.integration_id and c.session_id = s.id and c.scored_at = s.scored_at
    cross join lateral (
      select max(last_at) as "lastEventAt", coalesce(json_object_agg(type, n), '{}') as "eventCounts"
        from (select type, max(timestamp) as last_at, sum(event_count) as n from session_events e
               where e.integration_id = $1 and e.session_id = $2 group by type) t) e
   where s.integration_id = $1 and s.id = $2`;

const READ_SCORES = `
  select scored_at as "scoredAt", bot_score as "botScore", rule_set_version as "ruleSetVersion",
         detection_flags as "detectionFlags"
    from session_scores where integration_id = $1 and session_id = $2 order by scored_at desc limit $3`;

const READ_VERDICTS = `
  select decided_at as "decidedAt", label, is_undo as "isUndo", confidence, reasons, notes, actor_kind as "actorKind",
         actor_name as "actorName", bot_score as "botScore", rule_set_version as "ruleSetVersion", medium_at as "mediumAt",
         bot_at as "botAt"
    from session_verdicts where integration_id = $1 and session_id = $2 order by entry desc limit $3`;

const READ_MATCHES = `
  select user_id as "userId", confidence, correlated_at as "correlatedAt"
    from session_correlations where integration_id = $1 and session_id = $2 order by correlated_at desc limit $3`;
