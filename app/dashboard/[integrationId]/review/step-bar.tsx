import type { Verdict } from '../../../../contract/sessions';
import { RiskShape } from '../../components/badge';
import { Button, IconButton } from '../../components/button';
import { ChevronLeft, ChevronRight } from '../../components/icons';

interface StepBarProps {
  canWrite: boolean;
  onStep(by: 1 | -1): void;
  onLabel(verdict: Verdict): void;
  onSkip(): void;
}

/** The keys of a review as buttons, within reach of a thumb. */
export function StepBar({ canWrite, onStep, onLabel, onSkip }: StepBarProps) {
  return (
    <div
      data-step-bar
      role="toolbar"
      aria-label="Review"
      // A held Enter would press again and again, each time for another session.
      onKeyDown={(event) => event.repeat && event.key === 'Enter' && event.preventDefault()}
      className="fixed inset-x-0 bottom-0 z-20 flex items-center justify-between gap-1 border-line border-t bg-surface px-2 py-2 lg:hidden"
    >
      <IconButton kind="plain" label="Previous" onClick={() => onStep(-1)}>
        <ChevronLeft size={18} aria-hidden />
      </IconButton>
      {(['bot', 'human'] as const).map((verdict) => (
        <Button key={verdict} disabled={!canWrite} className="min-w-0 flex-1" onClick={() => onLabel(verdict)}>
          <RiskShape level={verdict} />
          {verdict === 'bot' ? 'Bot' : 'Human'}
        </Button>
      ))}
      <Button kind="quiet" onClick={onSkip}>
        Skip
      </Button>
      <IconButton kind="plain" label="Next" onClick={() => onStep(1)}>
        <ChevronRight size={18} aria-hidden />
      </IconButton>
    </div>
  );
}
