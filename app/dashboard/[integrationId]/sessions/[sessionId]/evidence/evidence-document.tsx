import type { ReactNode } from 'react';
import type { EvidenceReport } from '../../../../../../contract/evidence-report';
import { RISK_WORDS } from '../../../../components/badge';
import { isolateName } from '../../../../components/direction';
import { UTC } from '../../../../time-zone';
import { nameAnomaly, sayAnomaly } from '../../../anomalies/anomaly-words';
import { REASON_WORDS } from '../../verdict-words';
import { showMilliseconds } from '../event-words';
import { EvidenceFindings } from './evidence-findings';
import { More, NOT_KNOWN, showTime, showUnbroken, Table, TableRow, Values } from './evidence-layout';
import { showBothScores, showName, showPlain, showUtcInstant } from './evidence-words';

/** The evidence of a session, for print. All of the report is in it. */
export function EvidenceDocument({ report }: { report: EvidenceReport }) {
  const { integration, session, limits } = report;
  return (
    <article className="evidence mx-auto max-w-[56rem] space-y-6 rounded border border-line bg-surface p-5 sm:p-10">
      <header className="space-y-1 border-line-strong border-b pb-3">
        <h1 className="font-semibold text-xl">Evidence of a session</h1>
        <p className="wrap-anywhere font-mono text-xs">{session.id}</p>
        <p className="wrap-anywhere text-muted">
          {integration.name} ({integration.id}). Made on {showUtcInstant(report.generatedAt)}
          {report.generatedBy && ` for ${report.generatedBy}`}. All times are in Coordinated Universal Time (
          {report.timeZone}).
        </p>
      </header>
      <Part title="In short">
        <Summary report={report} />
      </Part>
      <Part title="What this does and does not show">
        <Statements title="It shows" items={limits.shows} />
        <Statements title="It does not show" items={limits.doesNotShow} />
      </Part>
      <Part title="Findings">
        <EvidenceFindings findings={report.findings} />
      </Part>
      <Part title="Scores">
        <Scores report={report} />
      </Part>
      <Part title="Verdicts">
        <Verdicts report={report} />
      </Part>
      <Part title="User and device">
        <UserAndDevice report={report} />
      </Part>
      <Part title="Pages">
        <Pages pages={report.pages} />
      </Part>
      <Part title="Anomalies">
        <Anomalies anomalies={report.anomalies} />
      </Part>
      <p className="border-line border-t pt-3 text-faint text-xs">
        End of the report. The same content is available as JSON from the page that made it.
      </p>
    </article>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="space-y-2">
      <h2 className="font-semibold text-base">{title}</h2>
      {children}
    </section>
  );
}

function Statements({ title, items }: { title: string; items: string[] }) {
  return (
    <div className="space-y-1">
      <h3 className="font-medium">{title}</h3>
      <ul className="list-disc space-y-1 pl-5">
        {items.map((item) => (
          <li key={item}>{item}</li>
        ))}
      </ul>
    </div>
  );
}

const showThresholds = ({ mediumAt, botAt }: { mediumAt: number; botAt: number }) =>
  `medium from ${mediumAt}, bot from ${botAt}`;

function Summary({ report: { session, score, label } }: { report: EvidenceReport }) {
  const counts = Object.entries(session.eventCounts).map(([type, count]) => `${type} ${count}`);
  return (
    <Values
      values={[
        ['Score', score.botScore === null ? 'none' : <strong key="score">{showBothScores(score.botScore)}</strong>],
        ['Class now', score.riskLevel && RISK_WORDS[score.riskLevel]],
        ['Scored', score.scoredAt && showUtcInstant(score.scoredAt)],
        ['Rules', score.ruleSetVersion ?? 'no version is named'],
        ['Thresholds now', showThresholds(score.thresholds)],
        [
          'Label now',
          label
            ? `${showName(label.verdict)}, ${showUtcInstant(label.labeledAt)}${label.labeledBy ? `, by ${label.labeledBy}` : ''}${label.confidence ? `, ${label.confidence} confidence` : ''}${label.notes ? `: “${label.notes}”` : ''}`
            : 'none',
          'wide',
        ],
        ['Began', showUtcInstant(session.startedAt)],
        ['Closed', session.closedAt && showUtcInstant(session.closedAt)],
        ['Last event', session.lastEventAt && showUtcInstant(session.lastEventAt)],
        ['Status', session.failureReason ? `${session.status}: ${session.failureReason}` : session.status],
        ['Origin', session.origin],
        ['Course', session.courseId],
        ['Country', session.country],
        ['Events', counts.length === 0 ? 'none' : counts.join(', '), 'wide'],
        ['First page', session.firstPage, 'wide'],
      ]}
    />
  );
}

function Scores({ report: { scores } }: { report: EvidenceReport }) {
  if (scores.list.length === 0) return <p>The session has no score.</p>;
  return (
    <>
      <Table head={['When', 'Score', 'Rules', 'Flags']}>
        {scores.list.map(({ scoredAt, botScore, ruleSetVersion, detectionFlags }) => (
          <TableRow
            key={scoredAt}
            cells={[
              ...[
                showTime(scoredAt),
                showUnbroken(showBothScores(botScore)),
                showUnbroken(ruleSetVersion ?? 'no version'),
              ],
              detectionFlags.length === 0 ? 'none' : detectionFlags.join(', '),
            ]}
          />
        ))}
      </Table>
      <More of="scores" hasMore={scores.hasMore} />
    </>
  );
}

function Verdicts({ report: { verdicts, score } }: { report: EvidenceReport }) {
  if (verdicts.list.length === 0) return <p>Nobody has given a verdict on this session.</p>;
  return (
    <>
      <Table head={['When', 'Verdict', 'By', 'Reasons and notes', 'Score then', 'Thresholds then']}>
        {verdicts.list.map((verdict, index) => (
          <TableRow
            // biome-ignore lint/suspicious/noArrayIndexKey: two verdicts may have the same time
            key={index}
            cells={[
              showTime(verdict.decidedAt),
              <>
                {verdict.verdict === null ? 'Label removed' : showName(verdict.verdict)}
                {verdict.isUndo && ' (undo)'}
                {verdict.confidence && `, ${verdict.confidence} confidence`}
              </>,
              `${verdict.author.name ?? 'not known'} (${showName(verdict.author.kind)})`,
              <>
                {verdict.reasons.map((reason) => REASON_WORDS[reason]).join(', ')}
                {verdict.notes && <span className="block">“{verdict.notes}”</span>}
              </>,
              <>
                {verdict.botScore === null ? 'none' : showBothScores(verdict.botScore)}
                {verdict.ruleSetVersion && `, rules ${verdict.ruleSetVersion}`}
              </>,
              verdict.thresholds === null ? 'not kept' : showThresholds(verdict.thresholds),
            ]}
          />
        ))}
      </Table>
      <p className="text-muted text-xs">Thresholds now: {showThresholds(score.thresholds)}.</p>
      <More of="verdicts" hasMore={verdicts.hasMore} />
    </>
  );
}

function UserAndDevice({ report: { user, device, matches } }: { report: EvidenceReport }) {
  return (
    <>
      {user === null ? (
        <p>The session is matched with nobody.</p>
      ) : (
        <Values
          values={[
            ['User', user.name],
            ['User id', user.id],
            ['Email', user.email],
            ['Address', user.url, 'wide'],
            ['Matched', user.matchedAt && showUtcInstant(user.matchedAt)],
            ['Confidence', user.confidence === null ? null : `${user.confidence} of 1`],
            ['How', user.match, 'wide'],
          ]}
        />
      )}
      <Values
        values={[
          ['Device', device.fingerprint],
          ['Kind', showName(device.type)],
          ['Browser', device.browser],
          ['User agent', device.userAgent, 'wide'],
          ['Own device', device.confirmedAt ? `confirmed ${showUtcInstant(device.confirmedAt)}` : 'not confirmed'],
        ]}
      />
      {matches.list.length > 0 && (
        <Table head={['Matched', 'User id', 'Confidence']}>
          {matches.list.map(({ userId, confidence, correlatedAt }) => (
            <TableRow key={correlatedAt} cells={[showTime(correlatedAt), userId, `${confidence} of 1`]} />
          ))}
        </Table>
      )}
      <More of="matches" hasMore={matches.hasMore} />
    </>
  );
}

function Pages({ pages: { list, total, hasMore } }: { pages: EvidenceReport['pages'] }) {
  return (
    <>
      <p className="text-muted">
        {hasMore ? `The first ${list.length} of at least ${total} pages.` : `${total} in all.`} Time in front: until the
        next page, less the time in which the page was hidden. The last page ends with the last event.
      </p>
      <Table head={['From', 'In front', 'Page']}>
        {list.map(({ url, at, spentMs }, index) => (
          <TableRow
            // biome-ignore lint/suspicious/noArrayIndexKey: a page may be visited twice at once
            key={index}
            cells={[
              showTime(at),
              <span key="spent" className="whitespace-nowrap">
                {spentMs === null ? NOT_KNOWN : showSpent(spentMs)}
              </span>,
              url,
            ]}
          />
        ))}
      </Table>
    </>
  );
}

/** With the exact figure, if the words round it. */
const showSpent = (ms: number) => (ms < 1_000 ? showMilliseconds(ms) : `${showMilliseconds(ms)} (${ms} ms)`);

function Anomalies({ anomalies: { list, hasMore } }: { anomalies: EvidenceReport['anomalies'] }) {
  if (list.length === 0) return <p>None was found.</p>;
  return (
    <>
      <ul className="space-y-2">
        {list.map((anomaly) => {
          const { id, anomalyType, severity, detectedAt, metadata, ...others } = anomaly;
          return (
            <li key={id}>
              <p className="wrap-anywhere">
                <strong className="font-medium">{nameAnomaly(anomalyType)}</strong> ({anomalyType}), {severity},{' '}
                {showTime(detectedAt)}
              </p>
              <p className="wrap-anywhere">{sayAnomaly(anomaly, UTC)}</p>
              <p className="wrap-anywhere text-faint text-xs">
                {[id, ...listNamed({ ...metadata, ...others })].map(isolateName).join(', ')}
              </p>
            </li>
          );
        })}
      </ul>
      <More of="anomalies" hasMore={hasMore} />
    </>
  );
}

/** Writes each value with its name. Those that are missing are left out. */
function listNamed(values: Record<string, unknown>): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    if (value === null) return [];
    if (typeof value === 'object' && !Array.isArray(value))
      return listNamed(value as Record<string, unknown>).map((named) => `${name} ${named}`);
    const isInstant = typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);
    return [`${name}: ${isInstant ? showUtcInstant(value) : showPlain(value)}`];
  });
}
