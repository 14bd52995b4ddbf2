'use client';
import { createContext, type ReactNode, use, useEffect, useState } from 'react';

const TICK_MS = 10_000;
const UNITS = [
  ['y', 31_536_000],
  ['mo', 2_592_000],
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

/** `isLocal` is false on the server and in the first render, which do not know the browser's time zone. */
const Clock = createContext<{ nowMs: number; isLocal: boolean }>({ nowMs: 0, isLocal: false });

/**
 * Gives every Time below the current time. It starts with the server's clock (milliseconds), so that both render the
 * same.
 */
export function ClockProvider({ nowMs, children }: { nowMs: number; children: ReactNode }) {
  const [clock, setClock] = useState({ nowMs, isLocal: false });
  useEffect(() => {
    const tick = () => setClock({ nowMs: Date.now(), isLocal: true });
    tick();
    const timer = setInterval(tick, TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return <Clock value={clock}>{children}</Clock>;
}

/** Describes the distance of an instant from now: `3 min ago`, `in 2 h`, `just now`. */
export function describeDistance(atMs: number, nowMs: number): string {
  const seconds = Math.abs(nowMs - atMs) / 1000;
  const unit = UNITS.find(([, size]) => seconds >= size);
  if (!unit) return atMs > nowMs + 1.5 * TICK_MS ? 'in a moment' : 'just now';
  const amount = `${Math.floor(seconds / unit[1])} ${unit[0]}`;
  return atMs > nowMs ? `in ${amount}` : `${amount} ago`;
}

const showUtc = (iso: string) => `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
const showLocal = (iso: string) =>
  new Date(iso).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });

/** An instant (ISO 8601) relative to now, with local time and UTC on hover. `absolute` shows the local time instead. */
export function Time({ at, absolute = false }: { at: string | null; absolute?: boolean }) {
  const { nowMs, isLocal } = use(Clock);
  if (at === null) return <span className="text-faint">–</span>;
  const local = isLocal ? showLocal(at) : null;
  return (
    <time
      dateTime={at}
      title={local ? `${local} local time\n${showUtc(at)}` : showUtc(at)}
      className="whitespace-nowrap"
    >
      {absolute ? (local ?? showUtc(at)) : describeDistance(Date.parse(at), nowMs)}
    </time>
  );
}

/** Formats a duration: `850 ms`, `12 s`, `4 min 10 s`, `2 h 5 min`. */
export function showDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min${seconds % 60 ? ` ${seconds % 60} s` : ''}`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h${minutes % 60 ? ` ${minutes % 60} min` : ''}`;
}
