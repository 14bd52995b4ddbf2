import { type KeyboardEvent, memo, type PointerEvent, type ReactNode } from 'react';
import type { Recording } from '../../../../../contract/recordings';
import { joinClasses } from '../../../components/classes';
import { chooseTypeColor, placeTimes, showOffset } from '../timeline';
import type { Mark, Scene } from './recording-reader';
import { describeMark, describePart } from './recording-words';

/** A moment that a finding rests on. */
export interface FindingMoment {
  atMs: number;
  /** The finding in words. */
  name: string;
}

const STEP_MS = 1_000;
const LARGE_STEP_MS = 10_000;
const STEPS = new Map([
  ['ArrowLeft', -STEP_MS],
  ['ArrowDown', -STEP_MS],
  ['ArrowRight', STEP_MS],
  ['ArrowUp', STEP_MS],
  ['PageDown', -LARGE_STEP_MS],
  ['PageUp', LARGE_STEP_MS],
  ['Home', Number.NEGATIVE_INFINITY],
  ['End', Number.POSITIVE_INFINITY],
]);

interface RecordingTrackProps {
  scene: Scene;
  segments: Recording['segments'];
  moments: readonly FindingMoment[];
  chosenMs: number | null;
  atMs: number;
  /** What happens at the moment, for screen readers. */
  words: string;
  onMove(atMs: number): void;
  onTogglePlay(): void;
}

/** The time of a recording with what happened when, and the slider that moves through it. */
export function RecordingTrack({ atMs, words, onMove, onTogglePlay, chosenMs, ...content }: RecordingTrackProps) {
  const { startMs, endMs } = content.scene;
  const spanMs = endMs - startMs;
  const place = (ms: number) => Math.min(100, Math.max(0, ((ms - startMs) / spanMs) * 100));
  const move = (toMs: number) => onMove(Math.round(Math.min(endMs, Math.max(startMs, toMs))));
  const point = (event: PointerEvent<HTMLElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    move(startMs + ((event.clientX - box.left) / box.width) * spanMs);
  };
  const press = (event: KeyboardEvent) => {
    const step = STEPS.get(event.key);
    if (step === undefined && event.key !== ' ') return;
    event.preventDefault();
    if (step === undefined) onTogglePlay();
    else move(atMs + step);
  };
  return (
    <div className="relative pl-20">
      <Lanes {...content} />
      <div className="relative h-5 text-faint text-xs" aria-hidden>
        {placeTimes(startMs, spanMs).map(({ at, text }) => (
          <span
            key={at}
            className="absolute top-1 leading-none"
            style={{ left: `${at}%`, transform: `translateX(-${at}%)` }}
          >
            {text}
          </span>
        ))}
      </div>
      <div className="absolute inset-y-0 right-0 left-20">
        <div
          role="slider"
          tabIndex={0}
          aria-label="Time in the recording"
          aria-valuemin={Math.round(startMs)}
          aria-valuemax={Math.round(endMs)}
          aria-valuenow={Math.round(atMs)}
          aria-valuetext={`${showOffset(atMs)} of ${showOffset(endMs)}${words && `, ${words}`}`}
          className="absolute inset-0 cursor-ew-resize touch-pan-y select-none rounded"
          onPointerDown={(event) => {
            event.currentTarget.setPointerCapture(event.pointerId);
            point(event);
          }}
          onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && point(event)}
          onKeyDown={press}
        >
          {chosenMs !== null && (
            <span
              aria-hidden
              className="absolute top-0 bottom-5 w-2 -translate-x-1/2 bg-bot-soft ring-1 ring-bot"
              style={{ left: `${place(chosenMs)}%` }}
            />
          )}
          <span
            aria-hidden
            className="absolute top-0 bottom-5 w-0.5 -translate-x-1/2 bg-accent before:absolute before:-top-1 before:-left-[5px] before:size-3 before:rounded-full before:bg-accent"
            style={{ left: `${place(atMs)}%` }}
          />
        </div>
      </div>
    </div>
  );
}

/** The lanes do not change while the recording plays. */
const Lanes = memo(function Lanes({
  scene,
  segments,
  moments,
}: Pick<RecordingTrackProps, 'scene' | 'segments' | 'moments'>) {
  const { startMs, endMs, keys, typing, marks } = scene;
  const spanMs = endMs - startMs;
  const place = (ms: number) => Math.min(100, Math.max(0, ((ms - startMs) / spanMs) * 100));
  const ofKind = (kind: Mark['kind']) => marks.filter((mark) => mark.kind === kind);
  /** Marks as one drawing: a bar at each moment. */
  const ticks = (things: readonly { atMs: number }[]) =>
    things.map(({ atMs }) => `M${place(atMs).toFixed(2)} 0V10`).join('');
  const erased = keys.filter(({ kind }) => kind === 'erase');
  const others = keys.filter(({ kind }) => kind !== 'erase');
  return (
    <div className="space-y-1">
      <Lane name="Findings" tall>
        {moments.map(({ atMs, name }, index) => (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: two findings may share a moment
            key={`${atMs} ${index}`}
            data-moment={atMs}
            title={`${showOffset(atMs)} ${name}`}
            className="absolute top-0.5 size-0 -translate-x-1/2 border-x-[5px] border-x-transparent border-t-[9px] border-t-bot"
            style={{ left: `${place(atMs)}%` }}
          />
        ))}
      </Lane>
      {segments.length > 0 && (
        <Lane name="Parts">
          {segments.map((segment, index) => {
            const { startMs: fromMs, score } = segment;
            const toMs = segments[index + 1]?.startMs ?? endMs;
            return (
              <span
                key={fromMs}
                title={describePart(segment)}
                className="absolute inset-y-0 border-surface border-l bg-bot-fill"
                style={{
                  left: `${place(fromMs)}%`,
                  width: `${place(toMs) - place(fromMs)}%`,
                  opacity: 0.12 + 0.88 * score,
                }}
              />
            );
          })}
        </Lane>
      )}
      <Lane name="Pages">
        <Spots marks={ofKind('page')} place={place} color={chooseTypeColor('navigation')} />
        <Spots marks={ofKind('visibility')} place={place} color={chooseTypeColor('visibility')} isRound />
      </Lane>
      <Lane name="Focus">
        <Spots marks={ofKind('focus')} place={place} color={chooseTypeColor('form')} />
      </Lane>
      <Lane name="Pointer">
        <Drawing>
          <path
            d={ticks(ofKind('press'))}
            stroke={chooseTypeColor('mouse')}
            strokeWidth={2}
            vectorEffect="non-scaling-stroke"
          />
        </Drawing>
      </Lane>
      <Lane name="Keys" tall>
        <Drawing>
          {typing.map(({ atMs, durationMs }) => (
            <rect
              key={atMs}
              x={place(atMs)}
              width={Math.max(0.2, place(atMs + durationMs) - place(atMs))}
              y={3}
              height={7}
              fill={chooseTypeColor('keyboard')}
            />
          ))}
          <path
            d={ticks(others)}
            stroke={chooseTypeColor('keyboard')}
            strokeWidth={1}
            vectorEffect="non-scaling-stroke"
          />
          <path
            d={ticks(erased)}
            stroke={chooseTypeColor('clipboard')}
            strokeWidth={1}
            vectorEffect="non-scaling-stroke"
          />
        </Drawing>
      </Lane>
      <Lane name="Text">
        <Spots marks={ofKind('text')} place={place} color={chooseTypeColor('clipboard')} />
      </Lane>
    </div>
  );
});

function Lane({ name, tall = false, children }: { name: string; tall?: boolean; children: ReactNode }) {
  return (
    <div className={joinClasses('relative', tall ? 'h-4' : 'h-3')} aria-hidden>
      <span className="absolute right-full mr-2 text-faint text-xs leading-3">{name}</span>
      <div className="absolute inset-0 overflow-hidden rounded bg-sunken">{children}</div>
    </div>
  );
}

const Drawing = ({ children }: { children: ReactNode }) => (
  <svg aria-hidden="true" viewBox="0 0 100 10" preserveAspectRatio="none" className="absolute inset-0 size-full">
    {children}
  </svg>
);

function Spots({
  marks,
  place,
  color,
  isRound = false,
}: {
  marks: readonly Mark[];
  place(atMs: number): number;
  color: string;
  isRound?: boolean;
}) {
  return marks.map((mark, index) => (
    <span
      // biome-ignore lint/suspicious/noArrayIndexKey: two things may happen at one moment
      key={`${mark.atMs} ${index}`}
      title={`${showOffset(mark.atMs)} ${describeMark(mark)}`}
      className={joinClasses('absolute top-1/2 size-2 -translate-x-1/2 -translate-y-1/2', isRound && 'rounded-full')}
      style={{ left: `${place(mark.atMs)}%`, background: color }}
    />
  ));
}
