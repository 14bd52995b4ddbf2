'use client';
import Link from 'next/link';
import { useParams } from 'next/navigation';
import type { ReactNode } from 'react';
import type { Analytics } from '../../../../contract/analytics';
import { ChartFrame } from '../../charts/chart-frame';
import { Count, Percent, showCount } from '../../components/count';
import { CutText } from '../../components/cut-text';

interface Share {
  name: string;
  value: number;
  color: string;
  /** The query that lists the counted sessions, if there is one. */
  filter?: Record<string, string>;
  note?: ReactNode;
}

const ACCENT = 'var(--color-accent)';

/** The scored sessions of the window by class. */
export function ClassShares({ analytics }: { analytics: Analytics }) {
  const { highConfidenceBots, mediumConfidenceBots, lowConfidenceBots, likelyHumans } = analytics.botDetection;
  return (
    <Shares
      title="Risk classes"
      window={analytics}
      shares={[
        {
          name: 'Bot',
          value: highConfidenceBots + mediumConfidenceBots,
          color: 'var(--color-bot-fill)',
          filter: { riskLevel: 'bot' },
          note: highConfidenceBots > 0 && (
            <span title="A score of at least 90, or labelled bot">
              <Count value={highConfidenceBots} /> with high confidence
            </span>
          ),
        },
        {
          name: 'Medium',
          value: lowConfidenceBots,
          color: 'var(--color-medium-fill)',
          filter: { riskLevel: 'medium' },
        },
        { name: 'Human', value: likelyHumans, color: 'var(--color-human-fill)', filter: { riskLevel: 'human' } },
      ]}
    />
  );
}

/** The origins of the sessions in the window. */
export function TopOrigins({ analytics }: { analytics: Analytics }) {
  return (
    <Shares
      title="Top origins"
      window={analytics}
      total={analytics.summary.totalSessions}
      shares={analytics.topOrigins.map(({ origin, sessionCount, botPercentage }) => ({
        name: origin,
        value: sessionCount,
        color: ACCENT,
        filter: { origin },
        note: (
          <>
            <Percent share={botPercentage / 100} /> bots
          </>
        ),
      }))}
    />
  );
}

/** The device types of the sessions in the window. */
export function DeviceShares({ analytics }: { analytics: Analytics }) {
  const { desktop, mobile, tablet } = analytics.deviceBreakdown;
  return (
    <Shares
      title="Devices"
      window={analytics}
      shares={[
        { name: 'Desktop', value: desktop, color: ACCENT, filter: { deviceType: 'desktop' } },
        { name: 'Mobile', value: mobile, color: ACCENT, filter: { deviceType: 'mobile' } },
        { name: 'Tablet', value: tablet, color: ACCENT, filter: { deviceType: 'tablet' } },
      ]}
    />
  );
}

/** The browsers of the sessions in the window. */
export function BrowserShares({ analytics }: { analytics: Analytics }) {
  const browsers = Object.entries(analytics.deviceBreakdown.browserCounts).sort(([, a], [, b]) => b - a);
  return (
    <Shares
      title="Browsers"
      window={analytics}
      shares={browsers.map(([name, value]) => ({ name, value, color: ACCENT }))}
    />
  );
}

interface SharesProps {
  title: string;
  /** What the links are limited to, so that they list exactly what is counted. */
  window: Pick<Analytics, 'startDate' | 'endDate'>;
  shares: Share[];
  /** What the shares are parts of. By default their sum. */
  total?: number;
}

/** A chart of shares: one line each, with its count, its percentage, and a bar of that percentage. */
function Shares({
  title,
  window: { startDate, endDate },
  shares,
  total = shares.reduce((sum, { value }) => sum + value, 0),
}: SharesProps) {
  const { integrationId } = useParams<{ integrationId: string }>();
  const part = (value: number) => (total === 0 ? 0 : value / total);
  return (
    <ChartFrame
      title={title}
      summary={
        total === 0
          ? 'No sessions in this window.'
          : shares.map(({ name, value }) => `${name}: ${showCount(value)}`).join(', ')
      }
      table={{
        columns: ['Name', 'Sessions', 'Share'],
        rows: shares.map(({ name, value }) => [name, showCount(value), <Percent key={name} share={part(value)} />]),
      }}
    >
      {total === 0 && <p className="text-muted">No sessions in this window.</p>}
      <ul className="space-y-2">
        {shares.map(({ name, value, color, filter, note }) => (
          <li key={name}>
            <div className="grid grid-cols-[minmax(2.5rem,1fr)_auto] items-baseline gap-3">
              {filter ? (
                <Link
                  prefetch={false}
                  className="min-w-0 truncate hover:underline"
                  title={name}
                  href={`/dashboard/${integrationId}/sessions?${new URLSearchParams({ ...filter, startDate, endDate })}`}
                >
                  {name}
                </Link>
              ) : (
                <CutText text={name} className="min-w-0" />
              )}
              <span className="flex flex-wrap justify-end gap-x-3 text-muted">
                {note && <span>{note}</span>}
                <Percent share={part(value)} />
                <span className="min-w-10 text-right font-medium text-ink">
                  <Count value={value} />
                </span>
              </span>
            </div>
            <div className="mt-0.5 h-1.5 rounded bg-sunken" aria-hidden>
              <div
                className="h-full rounded opacity-80"
                style={{ width: `${part(value) * 100}%`, background: color }}
              />
            </div>
          </li>
        ))}
      </ul>
    </ChartFrame>
  );
}
