import { readdirSync, readFileSync } from 'node:fs';

// Processor time is the steadier measure on a machine that others use too. Linux only; elsewhere there are no figures.

/** The kernel's unit in /proc: it is 100 a second on every machine Node runs on. */
const TICK_MS = 10;

interface ProcessTimes {
  parent: number;
  own: number;
  /** Of children that have ended. */
  reaped: number;
}

/** Null when there is no such process, or no /proc. */
function readTimes(pid: number): ProcessTimes | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field, the name, may hold anything; what follows it begins with the third.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    return {
      parent: fields[1]!,
      own: (fields[11]! + fields[12]!) * TICK_MS,
      reaped: (fields[13]! + fields[14]!) * TICK_MS,
    };
  } catch {
    return null;
  }
}

/** The processor time a process has used so far, in ms. */
export const readProcessCpu = (pid: number): number | null => readTimes(pid)?.own ?? null;

/** The same of a server and all its children, those that have ended included. */
export function readFamilyCpu(pid: number): number | null {
  const root = readTimes(pid);
  if (root === null) return null;
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readTimes(Number(name)))
    .filter((times) => times?.parent === pid);
  return children.reduce((sum, times) => sum + times!.own, root.own + root.reaped);
}
