import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Systems give ports from 32768 on to outgoing connections: such a port may be taken while a server that had it is away.
const FIRST = 10_000;
const END = 32_768;

/** Finds a port of the loopback that was free a moment ago, and that no outgoing connection takes. */
export async function findFreePort(): Promise<number> {
  const port = randomInt(FIRST, END);
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
  });
  if (!isFree) return findFreePort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
