'use client';
import type { KeyboardEvent, PointerEvent } from 'react';
import type { RiskThresholds } from '../../../../contract/risk-thresholds';
import { BINS, placeBin } from '../../charts/score-histogram';
import { joinClasses } from '../../components/classes';

const CUTS = [
  { cut: 'mediumAt', name: 'Medium from', color: 'bg-medium', line: 'border-medium' },
  { cut: 'botAt', name: 'Bot from', color: 'bg-bot', line: 'border-bot' },
] as const;
const LARGE_STEP = 5;
const STEPS = new Map([
  ['ArrowLeft', -1],
  ['ArrowDown', -1],
  ['ArrowRight', 1],
  ['ArrowUp', 1],
  ['PageDown', -LARGE_STEP],
  ['PageUp', LARGE_STEP],
  ['Home', -BINS],
  ['End', BINS],
]);

interface CutHandlesProps {
  thresholds: RiskThresholds;
  minGap: number;
  isDisabled: boolean;
  onChange(thresholds: RiskThresholds): void;
}

/**
 * Handles for the two cut points above the histogram. They move by pointer or keyboard and never come closer than the
 * gap.
 */
export function CutHandles({ thresholds, minGap, isDisabled, onChange }: CutHandlesProps) {
  const { mediumAt, botAt } = thresholds;
  const bounds = { mediumAt: [0, botAt - minGap], botAt: [mediumAt + minGap, 100] } as const;
  const move = (cut: keyof RiskThresholds, to: number) => {
    const [low, high] = bounds[cut];
    const value = Math.min(high, Math.max(low, to));
    if (value !== thresholds[cut]) onChange({ ...thresholds, [cut]: value });
  };
  const drag = (cut: keyof RiskThresholds) => (event: PointerEvent<HTMLElement>) => {
    if (isDisabled || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    const box = event.currentTarget.parentElement?.getBoundingClientRect();
    if (box) move(cut, Math.round(((event.clientX - box.left) / box.width) * BINS));
  };
  const press = (cut: keyof RiskThresholds) => (event: KeyboardEvent) => {
    const step = STEPS.get(event.key);
    if (step === undefined || isDisabled) return;
    event.preventDefault();
    move(cut, thresholds[cut] + step);
  };
  return CUTS.map(({ cut, name, color, line }) => (
    <div
      key={cut}
      role="slider"
      tabIndex={0}
      aria-label={name}
      aria-valuemin={bounds[cut][0]}
      aria-valuemax={bounds[cut][1]}
      aria-valuenow={thresholds[cut]}
      aria-disabled={isDisabled}
      className={joinClasses(
        'absolute inset-y-0 -ml-3 flex w-6 touch-none select-none justify-center rounded',
        !isDisabled && 'cursor-ew-resize',
      )}
      style={{ left: `${placeBin(thresholds[cut])}%` }}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag(cut)}
      onKeyDown={press(cut)}
    >
      <span className={joinClasses('h-full border-l-2', line)} aria-hidden />
      <span
        aria-hidden
        className={joinClasses(
          'absolute -top-2 flex h-5 min-w-6 items-center justify-center rounded px-1 font-semibold text-surface text-xs',
          color,
        )}
      >
        {thresholds[cut]}
      </span>
    </div>
  ));
}
