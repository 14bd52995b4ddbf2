'use client';
import type { ErrorRate } from '../../../contract/error-rates';
import { ChartFrame } from './chart-frame';
import { Plot, scaleCounts } from './plot';

/** The most of a scale, so that small shares can be seen. */
const SCALES = [10, 20, 50, 100, 200, 500, 1_000];
const MAX_CUT = 100;
const TABLE_STEP = 5;
const DIGITS_OF_PART = 6;

interface RateCurveProps {
  title: string;
  /** The chart in one sentence. */
  summary: string;
  /** For each cut point, 0 to 100. Null: not known. */
  rates: (ErrorRate | null)[];
  /** The numbers shown are parts of so many. */
  per: number;
  /** The highest part that must be seen. What is above it runs along the edge. */
  most: number;
  /** Cut points that are marked. */
  marks: number[];
  color: string;
}

/** A rate by cut point with the band of its interval. */
export function RateCurve({ title, summary, rates, per, most, marks, color }: RateCurveProps) {
  const max = SCALES.find((size) => size >= most * per) ?? per;
  const scale = scaleCounts(Math.min(max, per));
  const y = (share: number) => scale.y(Math.min(share * per, max, per));
  const x = (cut: number) => (cut / MAX_CUT) * 100;
  return (
    <ChartFrame
      title={title}
      summary={summary}
      table={{
        columns: ['Cut point', 'At least', 'Estimate', 'At most', 'Verdicts'],
        rows: rates.flatMap((rate, cut) =>
          rate && cut % TABLE_STEP === 0 ? [[cut, ...showRateParts(rate, per), rate.of]] : [],
        ),
      }}
    >
      <Plot
        height={128}
        scale={scale}
        labels={[0, 25, 50, 75, 100].map((cut) => ({ at: x(cut), text: String(cut) }))}
        overlay={marks.map((cut) => (
          <div
            key={cut}
            className="absolute inset-y-0 border-faint border-l border-dashed"
            style={{ left: `${x(cut)}%` }}
          />
        ))}
      >
        {findRuns(rates).map((run) => {
          const line = (read: (rate: ErrorRate) => number) => run.map(([cut, rate]) => `${x(cut)},${y(read(rate))}`);
          const [low, high] = [line((rate) => rate.low), line((rate) => rate.high)];
          return (
            <g key={run[0]![0]}>
              <polygon points={[...high, ...low.reverse()].join(' ')} fill={color} fillOpacity={0.2} />
              <polyline
                points={line((rate) => rate.estimate).join(' ')}
                fill="none"
                stroke={color}
                strokeWidth={1.5}
                vectorEffect="non-scaling-stroke"
              />
            </g>
          );
        })}
      </Plot>
    </ChartFrame>
  );
}

/**
 * Shows the low end, the estimate and the high end of a rate as parts of so many, small ones with a decimal. The ends are rounded
 * outwards: rounded inwards, the interval would claim more than it holds.
 */
export function showRateParts({ low, estimate, high }: ErrorRate, per: number): [string, string, string] {
  const show = (share: number, round: (value: number) => number) => {
    // Without what the product adds: 0.07 × 100 = 7.000…001.
    const part = Number((share * per).toFixed(DIGITS_OF_PART));
    const digits = part < 10 && part > 0 ? 1 : 0;
    return (round(part * 10 ** digits) / 10 ** digits).toFixed(digits);
  };
  return [show(low, Math.floor), show(estimate, Math.round), show(high, Math.ceil)];
}

/** Finds the stretches of cut points at which the rate is known. */
function findRuns(rates: (ErrorRate | null)[]): [cut: number, rate: ErrorRate][][] {
  const runs: [number, ErrorRate][][] = [[]];
  for (const [cut, rate] of rates.entries()) {
    if (rate) runs.at(-1)!.push([cut, rate]);
    else runs.push([]);
  }
  return runs.filter((run) => run.length > 0);
}
