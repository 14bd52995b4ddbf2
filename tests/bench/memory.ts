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

const POLL_MS = 50;

/** Watches the memory of a process while something runs: how many MB more it took at most. */
export async function watchMemory<Result>(pid: number, work: () => Promise<Result>) {
  const before = readResidentMemory(pid) ?? 0;
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, readResidentMemory(pid) ?? 0);
  }, POLL_MS);
  const from = performance.now();
  try {
    const result = await work();
    return { result, seconds: (performance.now() - from) / 1_000, grownMb: most - before };
  } finally {
    clearInterval(timer);
  }
}
