import type { RiskLevel } from '../../../contract/sessions';
import { joinClasses } from './classes';

const FILLS: Record<RiskLevel, string> = { bot: 'bg-bot-fill', medium: 'bg-medium-fill', human: 'bg-human-fill' };

/**
 * Shows a score of 0 to 1 as 0 to 100. It is never rounded up, so that it agrees with the cut points. Rounded down after a product it
 * would be one too low: 0.29 × 100 = 28.999…
 */
export function showScore(score: number): string {
  const nearest = Math.round(score * 100);
  return String(score < nearest / 100 ? nearest - 1 : nearest);
}

/** A score of 0 to 1 as a whole number up to 100, with a small bar in the colour of its class. */
export function ScoreBar({ score, level }: { score: number | null; level: RiskLevel | null }) {
  if (score === null) return <span className="text-faint">–</span>;
  return (
    <span className="inline-flex items-center gap-2" title={`Score ${showScore(score)} of 100`}>
      {/* Three digits, in any font. */}
      <span className="w-[3ch] shrink-0 whitespace-nowrap text-right font-medium">{showScore(score)}</span>
      <span className="h-1.5 w-12 overflow-hidden rounded bg-line max-sm:hidden" aria-hidden>
        <span
          className={joinClasses('block h-full rounded', level ? FILLS[level] : 'bg-faint')}
          style={{ width: `${score * 100}%` }}
        />
      </span>
    </span>
  );
}
