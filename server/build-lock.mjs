// Processes that start at the same time from a directory that is not built: one builds, the others wait for it.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const RETRY_MS = 200;
/** No build takes as long. */
const LIMIT_MS = 15 * 60_000;

/**
 * Waits until no other process has the lock, and takes it. The file contains the id of its process. The lock of a process that
 * has died counts as released, and any lock after 15 minutes, because the id may belong to another process by then. Returns
 * the function that releases the lock.
 */
export async function holdBuildLock(path) {
  mkdirSync(dirname(path), { recursive: true });
  let announced;
  while (!takeLock(path)) {
    const holder = readHolder(path);
    if (holder === null) rmSync(path, { force: true });
    else if (holder !== 0 && holder !== announced) {
      process.stderr.write(`Waiting for the build of process ${holder} (${path}) …\n`);
      announced = holder;
    }
    await delay(RETRY_MS);
  }
  return () => rmSync(path, { force: true });
}

function takeLock(path) {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/** The process that has the lock: null if none has it any more, 0 if it has not written its id yet. */
function readHolder(path) {
  try {
    const holder = Number(readFileSync(path, 'utf8'));
    const isOld = Date.now() - statSync(path).mtimeMs > LIMIT_MS;
    // After the restart of a container, the id may be our own.
    return isOld || holder === process.pid || !isAlive(holder) ? null : holder;
  } catch (error) {
    if (error.code === 'ENOENT') return null;
    throw error;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
