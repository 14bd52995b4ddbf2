import { nice, ticks } from 'd3-array';
import type { ReactNode } from 'react';
import { shortenCount } from '../components/count';

const TICKS = 4;

/** Creates a scale from 0 to at least `max`, in percent from the top, with round ticks. */
export function scaleCounts(max: number) {
  const [, top] = nice(0, Math.max(max, 1), TICKS);
  return {
    y: (count: number) => 100 - (100 * count) / top,
    ticks: ticks(0, top, TICKS).filter(Number.isInteger),
  };
}

interface PlotProps {
  /** In pixels. */
  height: number;
  scale: ReturnType<typeof scaleCounts>;
  /** Labels below the plot; `at` is in percent from the left. */
  labels: { at: number; text: string }[];
  /** Shapes in a box of 100 × 100 that stretches to the plot. The server can draw them without knowing the width. */
  children: ReactNode;
  /** HTML above the shapes, in the same box. */
  overlay?: ReactNode;
}

/** Axes, grid lines and a stretched drawing. Text stays HTML, so nothing is measured and nothing shifts. */
export function Plot({ height, scale, labels, children, overlay }: PlotProps) {
  return (
    <div className="pb-6 pl-9 text-faint text-xs">
      <div className="relative" style={{ height }}>
        {scale.ticks.map((tick) => (
          <span
            key={tick}
            className="absolute right-full mr-2 -translate-y-1/2 leading-none"
            style={{ top: `${scale.y(tick)}%` }}
            aria-hidden
          >
            {shortenCount(tick)}
          </span>
        ))}
        <svg
          aria-hidden="true"
          viewBox="0 0 100 100"
          preserveAspectRatio="none"
          className="absolute inset-0 size-full overflow-visible"
        >
          {scale.ticks.map((tick) => (
            <line
              key={tick}
              x1={0}
              x2={100}
              y1={scale.y(tick)}
              y2={scale.y(tick)}
              className="stroke-line"
              vectorEffect="non-scaling-stroke"
            />
          ))}
          {children}
        </svg>
        {overlay}
        {labels.map(({ at, text }) => (
          <span
            key={`${at} ${text}`}
            className="absolute top-full mt-1.5 whitespace-nowrap"
            style={{ left: `${at}%`, transform: `translateX(-${at}%)` }}
            aria-hidden
          >
            {text}
          </span>
        ))}
      </div>
    </div>
  );
}
