import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WAIT_LIMIT_MS } from '../../support/limits.mjs';
import { openScreen, type Screen } from '../screen';
import type { Deed, Devices } from './devices';

// A remote desktop over RDP: FreeRDP serves the screen, and its client fills another screen of the same size, where the person sits.

/** The client's window covers the screen when it gets what is done there. */
const SETTLE_MS = 4_000;
const LOOK: Deed[] = [
  { atMs: 0, do: 'move', x: 700, y: 600 },
  { atMs: 300, do: 'press', button: 1 },
  { atMs: 400, do: 'release', button: 1 },
];

/** Serves the screen over RDP and opens a client. */
export async function openRemoteWindow(screen: Screen): Promise<Devices> {
  const socket = join(screen.profile, 'rdp');
  // Both keep their certificates and settings there.
  const home = { HOME: screen.profile };
  screen.open('freerdp-shadow-cli', [`/ipc-socket:${socket}`, '-auth', '/sec:rdp'], home);
  for (const until = Date.now() + WAIT_LIMIT_MS; !existsSync(socket); await sleep(100))
    if (Date.now() > until) throw new Error('the RDP server did not start');
  const near = await openScreen();
  near.open('xfreerdp', [`/v:${socket}`, '/u:person', '/p:person', '/cert:ignore', '/sec:rdp', '/f'], home);
  await sleep(SETTLE_MS);
  await near.perform(LOOK);
  return { perform: (deeds) => near.perform(deeds), close: () => near.close() };
}
