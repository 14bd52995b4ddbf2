'use client';
import type { AlertMetric, AlertRulePreview } from '../../../../contract/alert-rules';
import { showMetricValue } from '../../../../contract/metric-values';
import { joinClasses } from '../../components/classes';
import { Section } from '../../components/page-header';
import { ErrorState, Skeleton } from '../../components/states';
import { Time } from '../../components/time';

interface RulePreviewProps {
  metric: AlertMetric;
  /** The value that the rule asks for. */
  limit: number;
  preview: AlertRulePreview | undefined;
  /** Why there is none, unless a field is wrong, which the form shows. */
  error: string | null;
  onRetry(): void;
  isFaulty: boolean;
  /** Whether the preview belongs to an earlier input. */
  isOld: boolean;
}

const sayCount = (count: number) =>
  count === 0
    ? 'Would not have fired in the last 30 days.'
    : `Would have fired ${count === 1 ? 'once' : `${count} times`} in the last 30 days.`;

/** When a rule would have fired. The server decides it with the function that fires alerts. */
export function RulePreview({ metric, limit, preview, error, onRetry, isFaulty, isOld }: RulePreviewProps) {
  if (error) return <ErrorState message={error} onRetry={onRetry} />;
  return (
    <div className={joinClasses('transition-opacity', isOld && 'opacity-60')} aria-busy={isOld}>
      <Section title="Preview">
        <p role="status" className="min-h-5 font-medium">
          {isFaulty ? 'Complete the rule to see when it would have fired.' : preview && sayCount(preview.count)}
        </p>
        <p className="mb-3 text-muted">By today’s scores, labels and thresholds, with everything that came late.</p>
        {!preview && <Skeleton className="h-64" />}
        {preview && preview.firings.length > 0 && (
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
          <section tabIndex={0} aria-label="Alerts that would have come" className="max-h-96 overflow-y-auto">
            <ol className="divide-y divide-line">
              {preview.firings.map(({ windowStart, windowEnd, value, message }) => (
                <li key={windowEnd} className="flex items-baseline gap-4 py-1.5">
                  <span className="shrink-0 text-muted">
                    <Time at={windowStart} absolute />
                  </span>
                  <span className="w-16 shrink-0 text-right tabular-nums">{showMetricValue(metric, value, limit)}</span>
                  <span className="min-w-0 flex-1 truncate text-muted" title={message}>
                    {message}
                  </span>
                </li>
              ))}
            </ol>
          </section>
        )}
        {preview && preview.count > preview.firings.length && (
          <p className="mt-2 text-faint text-xs">The latest {preview.firings.length} are listed.</p>
        )}
      </Section>
    </div>
  );
}
