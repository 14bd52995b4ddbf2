'use client';
import { createContext, type ReactNode, use, useEffect, useMemo, useState } from 'react';
import { showInstant, UTC } from '../time-zone';

// Server components call it too, and cannot call what a client module has.
export { showDuration } from './duration';

const TICK_MS = 10_000;
const UNITS = [
  ['y', 31_536_000],
  ['mo', 2_592_000],
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

interface Clock {
  nowMs: number;
  /** The zone in which all times are shown. */
  timeZone: string;
  setTimeZone(timeZone: string): void;
}

const ClockContext = createContext<Clock>({ nowMs: 0, timeZone: UTC, setTimeZone: () => {} });

/** Reads and changes the zone in which times are shown. */
export const useTimeZone = () => use(ClockContext);

interface ClockProps {
  /** The server's clock, in milliseconds, so that both render the same at first. */
  nowMs: number;
  timeZone: string;
  children: ReactNode;
}

/** Gives every Time below the current time and the time zone. */
export function ClockProvider({ nowMs: startMs, timeZone: startZone, children }: ClockProps) {
  const [nowMs, setNowMs] = useState(startMs);
  const [timeZone, setTimeZone] = useState(startZone);
  useEffect(() => {
    const tick = () => setNowMs(Date.now());
    tick();
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <ClockContext value={useMemo(() => ({ nowMs, timeZone, setTimeZone }), [nowMs, timeZone])}>{children}</ClockContext>
  );
}

/** Describes the distance of an instant from now: `3 min ago`, `in 2 h`, `just now`. */
function describeDistance(atMs: number, nowMs: number): string {
  const seconds = Math.abs(nowMs - atMs) / 1000;
  const unit = UNITS.find(([, size]) => seconds >= size);
  if (!unit) return atMs > nowMs + 1.5 * TICK_MS ? 'in a moment' : 'just now';
  const amount = `${Math.floor(seconds / unit[1])} ${unit[0]}`;
  return atMs > nowMs ? `in ${amount}` : `${amount} ago`;
}

/** An instant (ISO 8601) relative to now, with the exact time on hover. `absolute` shows the exact time instead. */
export function Time({ at, absolute = false }: { at: string | null; absolute?: boolean }) {
  const { nowMs, timeZone } = use(ClockContext);
  if (at === null) return <span className="text-faint">–</span>;
  const exact = showInstant(at, timeZone);
  return (
    <time dateTime={at} title={exact} className="whitespace-nowrap">
      {absolute ? exact : describeDistance(Date.parse(at), nowMs)}
    </time>
  );
}
