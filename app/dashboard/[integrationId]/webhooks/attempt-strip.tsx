import type { WebhookHealth } from '../../../../contract/webhooks';
import { countOf, type Noun } from '../../components/list-total';
import { showDuration, useTimeZone } from '../../components/time';
import { showInstant } from '../../time-zone';

type Attempts = WebhookHealth['attempts'];

const SLOTS = 100;
/** Tick heights in percent, for the fastest and the slowest attempt. */
const [LOWEST, HIGHEST] = [22, 92];

/** Describes one attempt: `Failed, 503, class 5xx, after 12 ms`. */
function describeAttempt({ outcome, responseStatus, failureClass, durationMs, test }: Attempts[number]): string {
  const parts = [test ? `${outcome} (test)` : outcome, responseStatus, failureClass && `class ${failureClass}`];
  return `${parts.filter(Boolean).join(', ')}, after ${showDuration(durationMs)}`;
}

const ATTEMPTS: Noun = ['attempt', 'attempts'];

/** Summarises the attempts in a sentence, for screen readers. */
export function summarizeAttempts(attempts: Attempts): string {
  const [latest] = attempts;
  if (!latest) return 'No attempts yet.';
  const failed = attempts.filter(({ outcome }) => outcome === 'Failed').length;
  return `${countOf(attempts.length, ATTEMPTS)}: ${attempts.length - failed} delivered, ${failed} failed. The latest: ${describeAttempt(latest)}.`;
}

interface AttemptStripProps {
  attempts: Attempts;
  height: number;
  /** Whether words say which ticks were delivered and which failed. */
  hasLabels?: boolean;
}

/**
 * The latest attempts as ticks, newest at the right. A longer tick took longer. Delivered ticks begin at the bottom and failed
 * ones at the top, so that they can be told apart without colour.
 */
export function AttemptStrip({ attempts, height, hasLabels = false }: AttemptStripProps) {
  const strip = <Strip attempts={attempts} height={height} />;
  if (!hasLabels) return strip;
  return (
    <div className="flex gap-2">
      <div aria-hidden className="flex flex-col justify-between text-xs leading-none">
        <span className="text-bot">Failed</span>
        <span className="text-human">Delivered</span>
      </div>
      <div className="min-w-0 flex-1">{strip}</div>
    </div>
  );
}

function Strip({ attempts, height }: AttemptStripProps) {
  const { timeZone } = useTimeZone();
  const slowest = Math.max(1, ...attempts.map(({ durationMs }) => durationMs));
  // Logarithmic, so that one timeout of 30 s does not flatten the rest.
  const lengthOf = (ms: number) => LOWEST + (HIGHEST - LOWEST) * (Math.log1p(ms) / Math.log1p(slowest));
  return (
    <svg
      viewBox={`0 0 ${SLOTS} 100`}
      preserveAspectRatio="none"
      width="100%"
      height={height}
      role="img"
      aria-label={summarizeAttempts(attempts)}
      className="block"
    >
      <line x1={0} x2={SLOTS} y1={99.5} y2={99.5} className="stroke-line" vectorEffect="non-scaling-stroke" />
      {attempts.slice(0, SLOTS).map((attempt, at) => {
        const isDelivered = attempt.outcome === 'Delivered';
        const length = lengthOf(attempt.durationMs);
        const x = SLOTS - 1 - at;
        return (
          <g key={`${attempt.deliveryId} ${attempt.at}`}>
            <title>{`${describeAttempt(attempt)}\n${showInstant(attempt.at, timeZone)}`}</title>
            <rect x={x} width={1} y={0} height={100} fill="transparent" />
            <rect
              x={x + 0.15}
              width={0.7}
              y={isDelivered ? 100 - length : 0}
              height={length}
              className={isDelivered ? 'fill-human-fill' : 'fill-bot-fill'}
            />
          </g>
        );
      })}
    </svg>
  );
}
