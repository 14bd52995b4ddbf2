import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const GRACE_MS = 500;

/** Ends the processes of a visit that its subject has left behind: those whose environment names its run. Linux only. */
export async function endLeftovers(run: string): Promise<void> {
  if (process.platform !== 'linux') return;
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const pids = await findProcesses(run);
    if (pids.length === 0) return;
    for (const pid of pids) {
      try {
        process.kill(pid, signal);
      } catch {} // it has just ended
    }
    await sleep(GRACE_MS);
  }
}

async function findProcesses(run: string): Promise<number[]> {
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const found = await Promise.all(
    names.map(async (pid) => {
      const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      return environment.split('\0').includes(`LAB_RUN=${run}`) ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}
