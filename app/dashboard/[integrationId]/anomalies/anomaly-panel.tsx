'use client';
import type { ReactNode } from 'react';
import type { Anomaly } from '../../../../contract/findings';
import { ShortId, shortenId } from '../../components/copying';
import { DetailsPanel, Facts } from '../../components/details-panel';
import { HoverLink } from '../../components/hover-link';
import { SeverityBadge } from '../../components/severity-badge';
import { Code } from '../../components/states';
import { Time } from '../../components/time';
import { describeAnomaly, findMoment, nameAnomaly } from './anomaly-words';

const LINK = 'text-accent underline-offset-2 hover:underline';

/** One anomaly, with everything the pipeline reported about it. */
export function AnomalyPanel({ anomaly, base, onClose }: { anomaly: Anomaly; base: string; onClose(): void }) {
  const { id, anomalyType, severity, detectedAt, sessionId, userId, deviceFingerprint, metadata } = anomaly;
  const seen = describeAnomaly(anomaly);
  const moment = findMoment(anomaly);
  return (
    <DetailsPanel title={nameAnomaly(anomalyType)} onClose={onClose}>
      {seen && <p className="mb-3">{seen}</p>}
      <Facts
        facts={[
          [
            'Type',
            <code key="type" className="font-mono text-xs">
              {anomalyType}
            </code>,
          ],
          ...(moment ? [['Moment', <Time key="moment" at={moment} absolute />] as [string, ReactNode]] : []),
          ['Anomaly', <ShortId key="id" id={id} name="anomaly id" />],
          ['Severity', <SeverityBadge key="severity" severity={severity} />],
          ['Detected', <Time key="at" at={detectedAt} absolute />],
          [
            'User',
            userId && (
              <HoverLink key="user" className={LINK} href={`${base}/users/${encodeURIComponent(userId)}`}>
                {userId}
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
        ]}
      />
      <h3 className="mt-4 mb-1 font-medium text-muted text-xs">Metadata</h3>
      {metadata ? <Code>{JSON.stringify(metadata, null, 2)}</Code> : <p className="text-faint">None.</p>}
    </DetailsPanel>
  );
}
