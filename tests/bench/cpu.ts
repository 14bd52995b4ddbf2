import { readdirSync, readFileSync } from 'node:fs';

// Processor time is the steadier measure on a shared machine. Linux only; elsewhere there are no figures.

/** The kernel's unit in /proc. It is 100 per second on every machine that Node runs on. */
const TICK_MS = 10;

interface ProcessTimes {
  parent: number;
  own: number;
  /** Time of children that have ended. */
  reaped: number;
}

/** Returns null if the process does not exist, or there is no /proc. */
function readTimes(pid: number): ProcessTimes | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field, the name, may contain any character. What follows it begins with the third field.
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

/** Reads the processor time that a process has used so far, in ms. */
export const readProcessCpu = (pid: number): number | null => readTimes(pid)?.own ?? null;

/** Reads the processor time of a process and all its children, including those that have ended. */
export function readFamilyCpu(pid: number): number | null {
  const root = readTimes(pid);
  if (root === null) return null;
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readTimes(Number(name)))
    .filter((times) => times?.parent === pid);
  return children.reduce((sum, times) => sum + times!.own, root.own + root.reaped);
}
