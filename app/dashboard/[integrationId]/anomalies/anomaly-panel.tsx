'use client';
import type { Anomaly } from '../../../../contract/findings';
import { ShortId, shortenId } from '../../components/copying';
import { DetailsPanel, Facts } from '../../components/details-panel';
import { HoverLink } from '../../components/hover-link';
import { SeverityBadge } from '../../components/severity-badge';
import { Time } from '../../components/time';
import { IncidentActions, listHandling } from '../incident-handling';
import { AnomalySentence } from './anomaly-sentence';
import { listReported, nameAnomaly } from './anomaly-words';

const LINK = 'text-accent underline-offset-2 hover:underline';

/** One anomaly: what it says, what happened to it, and everything the pipeline reported about it. */
export function AnomalyPanel({ anomaly, base, onClose }: { anomaly: Anomaly; base: string; onClose(): void }) {
  const { id, anomalyType, severity, detectedAt, sessionId, userId, userName, deviceFingerprint, metadata } = anomaly;
  const rows = listReported(metadata ?? {});
  return (
    <DetailsPanel title={nameAnomaly(anomalyType)} onClose={onClose}>
      <AnomalySentence anomaly={anomaly} base={base} />
      <IncidentActions kind="anomalies" incident={anomaly} />
      <Facts
        facts={[
          ...listHandling(anomaly),
          ['Severity', <SeverityBadge key="severity" severity={severity} />],
          ['Detected', <Time key="at" at={detectedAt} absolute />],
          [
            'User',
            userId && (
              <HoverLink
                key="user"
                className={LINK}
                title={userId}
                href={`${base}/users/${encodeURIComponent(userId)}`}
              >
                {userName ?? userId}
              </HoverLink>
            ),
          ],
          [
            'Session',
            sessionId && (
              <HoverLink
                key="session"
                className={LINK}
                title={sessionId}
                href={`${base}/sessions/${encodeURIComponent(sessionId)}`}
              >
                {shortenId(sessionId)}
              </HoverLink>
            ),
          ],
          ['Device', deviceFingerprint && <ShortId key="device" id={deviceFingerprint} name="device fingerprint" />],
          [
            'Type',
            <code key="type" className="break-all font-mono text-xs">
              {anomalyType}
            </code>,
          ],
          ['Anomaly', <ShortId key="id" id={id} name="anomaly id" />],
        ]}
      />
      <h3 className="mt-4 mb-1 font-medium text-muted text-xs">Reported with it</h3>
      {rows.length === 0 ? (
        <p className="text-faint">Nothing more.</p>
      ) : (
        <dl className="divide-y divide-line">
          {rows.map(({ name, value, isTime }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: names of a customer may repeat
            <div key={index} className="grid grid-cols-[minmax(0,2fr)_minmax(0,3fr)] gap-3 py-1">
              <dt className="break-words text-muted">{name}</dt>
              <dd className="line-clamp-6 break-words" title={value}>
                {isTime ? <Time at={new Date(value).toISOString()} absolute /> : value}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </DetailsPanel>
  );
}
