'use client';
import { area, type SeriesPoint, stack } from 'd3-shape';
import { type PointerEvent, type ReactNode, useRef, useState } from 'react';
import { showCount } from '../components/count';
import { Plot, scaleCounts } from './plot';

export interface Layer {
  name: string;
  color: string;
  values: number[];
}
/** Indices of the first and last selected bucket. */
export type Brush = [first: number, last: number] | null;

interface StackedAreaProps {
  /** Names of the buckets, in order. */
  buckets: string[];
  /** From the bottom up. */
  layers: Layer[];
  brush: Brush;
  onBrush(brush: Brush): void;
  /** In pixels. */
  height?: number;
}

/** Stacked counts over time. A drag selects a range, as do Shift and the arrow keys; Escape clears it. */
export function StackedArea({ buckets, layers, brush, onBrush, height = 220 }: StackedAreaProps) {
  const [hovered, setHovered] = useState<number | null>(null);
  const dragFrom = useRef<number | null>(null);
  const last = buckets.length - 1;
  const totals = buckets.map((_, at) => layers.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
  const scale = scaleCounts(Math.max(...totals));
  const x = (at: number) => (last === 0 ? 50 : (at / last) * 100);
  const stacked = stack<unknown, number, Layer>()
    .keys(layers)
    .value((at, { values }) => values[at] ?? 0)(buckets.keys());
  const outline = area<SeriesPoint<number>>()
    .x(({ data: at }) => x(at))
    .y0(([low]) => scale.y(low))
    .y1(([, high]) => scale.y(high));

  const findBucket = (event: PointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    return Math.min(last, Math.max(0, Math.round(((event.clientX - box.left) / box.width) * last)));
  };
  const order = (a: number, b: number): Brush => (a === b ? null : [Math.min(a, b), Math.max(a, b)]);

  return (
    <Plot
      height={height}
      scale={scale}
      labels={pickLabels(buckets).map((at) => ({ at: x(at), text: buckets[at] ?? '' }))}
      overlay={
        // biome-ignore lint/a11y/useSemanticElements: a range with two ends, which no input type offers
        <div
          role="group"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys select a range
          tabIndex={0}
          aria-label="Select a range of time: arrow keys move, with Shift they extend, Escape clears"
          className="absolute inset-0 cursor-crosshair touch-pan-y select-none"
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            dragFrom.current = findBucket(event);
            onBrush(null);
          }}
          onPointerMove={(event) => {
            const at = findBucket(event);
            setHovered(at);
            if (dragFrom.current !== null) onBrush(order(dragFrom.current, at));
          }}
          onLostPointerCapture={() => {
            dragFrom.current = null;
          }}
          onPointerLeave={() => setHovered(null)}
          onBlur={() => setHovered(null)}
          onKeyDown={(event) => {
            if (event.key === 'Escape') return onBrush(null);
            const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
            if (step === 0) return;
            event.preventDefault();
            const from = hovered ?? (step > 0 ? -1 : last + 1);
            const at = Math.min(last, Math.max(0, from + step));
            setHovered(at);
            if (!event.shiftKey) return onBrush(null);
            const anchor = brush ? (brush[0] === from ? brush[1] : brush[0]) : Math.min(last, Math.max(0, from));
            onBrush(order(anchor, at));
          }}
        >
          {brush && (
            <div
              className="absolute inset-y-0 border-accent border-x bg-accent/10"
              style={{ left: `${x(brush[0])}%`, width: `${x(brush[1]) - x(brush[0])}%` }}
            />
          )}
          {hovered !== null && (
            <Readout at={x(hovered)} title={buckets[hovered] ?? ''}>
              {layers.map(({ name, color, values }) => (
                <Line key={name} color={color} name={name} value={values[hovered] ?? 0} />
              ))}
            </Readout>
          )}
        </div>
      }
    >
      {stacked.map((points) => (
        <path
          key={points.key.name}
          d={outline(points) ?? ''}
          fill={points.key.color}
          fillOpacity={0.75}
          stroke={points.key.color}
          strokeWidth={1}
          vectorEffect="non-scaling-stroke"
        />
      ))}
    </Plot>
  );
}

/** The values at the pointer; `at` is in percent from the left. */
export function Readout({ at, title, children }: { at: number; title: string; children: ReactNode }) {
  return (
    <>
      <div className="pointer-events-none absolute inset-y-0 w-px bg-faint" style={{ left: `${at}%` }} />
      <div
        aria-live="polite"
        className="pointer-events-none absolute top-0 z-20 min-w-36 rounded border border-line-strong bg-surface px-2 py-1 text-ink text-xs"
        style={at > 50 ? { right: `calc(${100 - at}% + 8px)` } : { left: `calc(${at}% + 8px)` }}
      >
        <div className="mb-0.5 text-muted">{title}</div>
        {children}
      </div>
    </>
  );
}

/** One named number in the readout. */
export function Line({ color, name, value }: { color?: string; name: string; value: number }) {
  return (
    <div className="flex items-center justify-between gap-4">
      <span className="flex items-center gap-1.5">
        {color && <span className="size-2 rounded-[2px]" style={{ background: color }} />}
        {name}
      </span>
      <span className="font-medium">{showCount(value)}</span>
    </div>
  );
}

const MAX_LABELS = 6;

/** Picks the buckets to label: every n-th, starting with the first. */
export function pickLabels(buckets: string[]): number[] {
  const step = Math.max(1, Math.ceil(buckets.length / MAX_LABELS));
  return buckets.flatMap((_, at) => (at % step === 0 ? [at] : []));
}
