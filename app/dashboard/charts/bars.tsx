'use client';
import { type ReactNode, useState } from 'react';
import { Plot, scaleCounts } from './plot';
import { Line, Readout } from './stacked-area';

export interface BarOf {
  /** The bar's name, shown in the readout. */
  name: string;
  /** The parts of the bar, from the bottom up. */
  parts: { name: string; color: string; value: number }[];
}

interface BarsProps {
  bars: BarOf[];
  /** Labels below the bars; `at` is in percent from the left. */
  labels: { at: number; text: string }[];
  /** In pixels. */
  height?: number;
  /** HTML above the bars, positioned in percent. */
  overlay?: ReactNode;
}

/** A row of bars, each stacked from its parts. There is no scale below. */
export function Bars({ bars, labels, height = 160, overlay }: BarsProps) {
  const [hovered, setHovered] = useState<number | null>(null);
  const scale = scaleCounts(Math.max(0, ...bars.map(({ parts }) => sum(parts))));
  const width = 100 / Math.max(1, bars.length);
  const pointed = hovered === null ? undefined : bars[hovered];
  return (
    <Plot
      height={height}
      scale={scale}
      labels={labels}
      overlay={
        <div
          className="absolute inset-0"
          onPointerMove={(event) => {
            const box = event.currentTarget.getBoundingClientRect();
            const at = Math.floor(((event.clientX - box.left) / box.width) * bars.length);
            setHovered(Math.min(bars.length - 1, Math.max(0, at)));
          }}
          onPointerLeave={() => setHovered(null)}
        >
          {overlay}
          {pointed && hovered !== null && (
            <Readout at={(hovered + 0.5) * width} title={pointed.name}>
              {pointed.parts.map((part) => (
                <Line key={part.name} {...part} />
              ))}
            </Readout>
          )}
        </div>
      }
    >
      {bars.map(({ name, parts }, at) => {
        let below = 0;
        return (
          <g key={name}>
            {parts.map((part) => {
              const y0 = scale.y(below);
              below += part.value;
              const y1 = scale.y(below);
              return (
                <rect
                  key={part.name}
                  x={at * width + width * 0.08}
                  width={width * 0.84}
                  y={y1}
                  height={y0 - y1}
                  fill={part.color}
                  fillOpacity={hovered === null || hovered === at ? 0.9 : 0.55}
                />
              );
            })}
          </g>
        );
      })}
    </Plot>
  );
}

const sum = (parts: { value: number }[]) => parts.reduce((total, { value }) => total + value, 0);
