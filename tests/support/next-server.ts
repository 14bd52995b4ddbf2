import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { WAIT_LIMIT_MS } from './limits.mjs';
import { findFreePort } from './ports';
import { waitUntil } from './receiver';
import { PIPELINE_TOKEN } from './server';

export interface NextServer {
  url: string;
  /** Everything it has written to its streams. */
  output(): string;
  stop(): Promise<void>;
}

/**
 * Starts plain `next start` on a test server's database, with its secret, so that each can read what the other signs.
 * Needs the build.
 */
export async function startNextServer(
  { database, service }: { database: { url: string }; service: { env: { APP_SECRET?: Buffer } } },
  settings: Record<string, string> = {},
): Promise<NextServer> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const next = spawn(
    process.execPath,
    ['node_modules/next/dist/bin/next', 'start', '-p', String(port), '-H', '127.0.0.1'],
    {
      env: {
        ...process.env,
        NODE_ENV: 'production',
        DATABASE_URL: database.url,
        APP_SECRET: service.env.APP_SECRET!.toString('base64'),
        PIPELINE_TOKEN,
        LOG_LEVEL: 'warn',
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  // Each stream separately: a line may come in two pieces, with a piece of the other stream between them.
  const streams = [next.stdout, next.stderr].map((stream) => {
    const read = { text: '' };
    stream.setEncoding('utf8').on('data', (text) => (read.text += text));
    return read;
  });
  const output = () => streams.map(({ text }) => text).join('');
  const isUp = async () => {
    if (hasEnded(next)) throw new Error(`next start ended instead of starting: ${output()}`);
    const answer = await fetch(`${url}/health`, { headers: { connection: 'close' } }).catch(() => null);
    if (answer?.ok === false) throw new Error(`next start answers ${answer.status}: ${output()}`);
    return answer !== null;
  };
  const stop = async () => {
    if (hasEnded(next)) return;
    const ended = once(next, 'exit');
    next.kill('SIGTERM');
    await ended;
  };
  try {
    await waitUntil(isUp, WAIT_LIMIT_MS, () => `next start did not answer: ${output()}`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, output, stop };
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;
