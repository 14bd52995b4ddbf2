'use client';
import type { ThresholdPreview as Preview } from '../../../../contract/webhooks';
import { Badge } from '../../components/badge';
import { joinClasses } from '../../components/classes';
import { Check, Minus } from '../../components/icons';
import { Section } from '../../components/page-header';
import { Code, ErrorState, Skeleton } from '../../components/states';
import { Time } from '../../components/time';

interface ThresholdPreviewProps {
  /** Whether there is a condition; if so, the preview shows the value of its field. */
  hasThreshold: boolean;
  preview: Preview | undefined;
  error: string | null;
  onRetry(): void;
  /** Whether the preview belongs to an earlier input. */
  isOld: boolean;
  /** Whether the condition is invalid, so that the server cannot evaluate it. */
  isFaulty: boolean;
}

/** A sample payload, and which of the latest events would be sent. The server decides both. */
export function ThresholdPreviewNote({
  hasThreshold,
  preview,
  error,
  onRetry,
  isOld,
  isFaulty,
}: ThresholdPreviewProps) {
  if (error) return <ErrorState message={error} onRetry={onRetry} />;
  const sent = preview?.events.filter(({ passes }) => passes).length ?? 0;
  const total = preview?.events.length ?? 0;
  return (
    <div className={joinClasses('space-y-4 transition-opacity', isOld && 'opacity-60')} aria-busy={isOld}>
      <Section title="Payload, a sample" actions={preview && <Passes passes={preview.samplePasses} />}>
        {preview ? <Code>{JSON.stringify(preview.sample, null, 2)}</Code> : <Skeleton className="h-44" />}
      </Section>
      <Section title="On the newest events">
        <p role="status" className="mb-2 min-h-5 text-muted">
          {isFaulty
            ? 'Complete the condition to see what it would do.'
            : preview &&
              (total === 0
                ? 'No event of this type has fired yet.'
                : `${sent} of the newest ${total} would be sent, ${total - sent} skipped.`)}
        </p>
        {preview ? (
          <ol className="divide-y divide-line">
            {preview.events.map(({ createdAt, payload, passes, actual }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the events and their order are fixed
              <li key={at}>
                <details>
                  <summary className="flex h-8 items-center gap-3">
                    <span className="w-20 shrink-0">
                      <Passes passes={passes} />
                    </span>
                    <code className="min-w-0 flex-1 truncate font-mono text-faint text-xs">
                      {hasThreshold && <span className="mr-3 text-ink">{JSON.stringify(actual) ?? 'missing'}</span>}
                      {JSON.stringify(payload)}
                    </code>
                    <span className="shrink-0 text-muted">
                      <Time at={createdAt} />
                    </span>
                  </summary>
                  <div className="pb-2">
                    <Code>{JSON.stringify(payload, null, 2)}</Code>
                  </div>
                </details>
              </li>
            ))}
          </ol>
        ) : (
          <Skeleton className="h-64" />
        )}
      </Section>
    </div>
  );
}

function Passes({ passes }: { passes: boolean }) {
  return passes ? (
    <Badge tone="human">
      <Check size={12} aria-hidden />
      Sent
    </Badge>
  ) : (
    <Badge>
      <Minus size={12} aria-hidden />
      Skipped
    </Badge>
  );
}
