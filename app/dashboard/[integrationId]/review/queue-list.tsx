'use client';
import { useEffect, useRef, useState } from 'react';
import { RiskShape } from '../../components/badge';
import { joinClasses } from '../../components/classes';
import { Check, CircleSlash, Clock, UserCheck } from '../../components/icons';
import type { RowSelection } from '../../components/row-selection';
import { findOutcome, type ReviewOutcome, type ReviewProgress } from './progress';
import type { LoadedCase } from './use-cases';

/** Rows have one height, so that only those in view need to exist. */
const ROW_PX = 40;
/** Rows in view at most, with some above and below. */
const RENDERED = 40;
const ABOVE = 5;
/** The strip with reasons for the last verdict lies over the end of the list. */
const COVERED_PX = 160;

interface QueueListProps {
  progress: ReviewProgress;
  findCase(place: number): LoadedCase;
  /** Absent where sessions are judged one by one. */
  selection: RowSelection | null;
  onGo(place: number): void;
  /** Tells which rows are in view. */
  onShow(range: readonly [from: number, to: number]): void;
}

/** The queue in its order. It scrolls with the current session. */
export function QueueList({ progress, findCase, selection, onGo, onShow }: QueueListProps) {
  const { sessions, at } = progress;
  const scroller = useRef<HTMLDivElement>(null);
  const [from, setFrom] = useState(0);
  useEffect(() => {
    const box = scroller.current;
    if (!box) return;
    const top = at * ROW_PX;
    if (top < box.scrollTop || top + ROW_PX > box.scrollTop + box.clientHeight - COVERED_PX)
      box.scrollTop = top - box.clientHeight / 3;
  }, [at]);
  const to = Math.min(sessions.length, from + RENDERED);
  const places = Array.from({ length: to - from }, (_, index) => from + index);
  return (
    <div
      ref={scroller}
      onScroll={({ currentTarget }) => {
        const first = Math.floor(currentTarget.scrollTop / ROW_PX);
        const next = Math.max(0, first - ABOVE);
        if (Math.abs(next - from) < ABOVE && next !== 0) return;
        setFrom(next);
        onShow([first, first + Math.ceil(currentTarget.clientHeight / ROW_PX)]);
      }}
      className="min-h-0 flex-1 overflow-y-auto pb-40"
    >
      <ol
        aria-label="Queue"
        style={{ paddingTop: from * ROW_PX, height: sessions.length * ROW_PX }}
        className="overflow-hidden"
      >
        {places.map((place) => {
          const { id, score } = sessions[place]!;
          const { found } = findCase(place);
          const name = found && (found.session.userName ?? found.session.userId ?? 'Unmatched');
          const outcome = findOutcome(progress, id);
          return (
            <li
              key={id}
              aria-setsize={sessions.length}
              aria-posinset={place + 1}
              style={{ height: ROW_PX }}
              className={joinClasses(
                'flex items-center border-line/60 border-b',
                place === at ? 'bg-accent-soft' : 'hover:bg-sunken',
              )}
            >
              {selection && (
                <input
                  type="checkbox"
                  aria-label={`Choose session ${place + 1}`}
                  checked={selection.chosen.has(id)}
                  onChange={(event) => selection.toggle(id, (event.nativeEvent as MouseEvent).shiftKey)}
                  className="ml-3 size-4 shrink-0 accent-accent"
                />
              )}
              <button
                type="button"
                aria-current={place === at ? 'true' : undefined}
                onClick={(event) => (event.shiftKey && selection ? selection.toggle(id, true) : onGo(place))}
                className="flex h-full min-w-0 flex-1 items-center gap-2 px-3 text-left"
              >
                <span className="w-8 shrink-0 text-right text-faint text-xs">{place + 1}</span>
                {score !== null && (
                  <span className="w-[3ch] shrink-0 whitespace-nowrap text-right font-medium">{score}</span>
                )}
                <span className={joinClasses('min-w-0 flex-1 truncate', outcome && 'text-muted')} title={name}>
                  {name}
                </span>
                {outcome && <OutcomeMark outcome={outcome} />}
              </button>
            </li>
          );
        })}
      </ol>
    </div>
  );
}

const MARKS: Record<ReviewOutcome, { name: string; tone: string }> = {
  bot: { name: 'Labelled bot', tone: 'text-bot' },
  human: { name: 'Labelled human', tone: 'text-human' },
  skipped: { name: 'Skipped, comes back', tone: 'text-faint' },
  skippedAgain: { name: 'Skipped', tone: 'text-faint' },
  elsewhere: { name: 'Labelled by somebody else', tone: 'text-muted' },
};

/** What became of a session, as a shape with a name. */
function OutcomeMark({ outcome }: { outcome: ReviewOutcome }) {
  const { name, tone } = MARKS[outcome];
  return (
    <span className={joinClasses('flex shrink-0 items-center gap-1 text-xs', tone)} title={name}>
      {outcome === 'bot' || outcome === 'human' ? (
        <>
          <RiskShape level={outcome} />
          <Check size={12} aria-hidden />
        </>
      ) : outcome === 'elsewhere' ? (
        <UserCheck size={14} aria-hidden />
      ) : outcome === 'skipped' ? (
        <Clock size={14} aria-hidden />
      ) : (
        <CircleSlash size={14} aria-hidden />
      )}
      <span className="sr-only">{name}</span>
    </span>
  );
}
