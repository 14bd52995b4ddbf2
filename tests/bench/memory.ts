import { readFileSync } from 'node:fs';

/** The resident memory of a process, in MB of 1,048,576 bytes. Linux only; elsewhere null. */
export function readResidentMemory(pid: number): number | null {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kilobytes === undefined ? null : Number(kilobytes) / 1024;
  } catch {
    return null;
  }
}
