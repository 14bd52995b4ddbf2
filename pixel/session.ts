import { guard } from './guard';
import { writeJson } from './wire';

const ID = /^[\da-f]{32}$/;

/**
 * A session is a tab. The tab keeps the nonce and the collector's token for it, for its next pages and its frames of the same
 * origin. Storage that is refused is replaced by memory.
 */
export interface Session {
  nonce: string;
  token?: string;
}

type Area = 'localStorage' | 'sessionStorage';
type Use = 'getItem' | 'setItem' | 'removeItem';
const store = (area: Area, use: Use, text?: string) =>
  guard(() => window[area][use]('botPixel', text!) as string | null)();

/** Continues the session of this tab. If there is none, or only the one that is over, begins one. */
export function openSession(over?: Session): Session {
  const kept = guard(() => JSON.parse(store('sessionStorage', 'getItem')!) as Session | null)();
  if (kept && ID.test(kept.nonce) && kept.nonce !== over?.nonce) return kept;
  const session = { nonce: drawId() };
  keepSession(session);
  return session;
}

export const keepSession = (session: Session) => store('sessionStorage', 'setItem', writeJson(session));
export const forgetSession = () => store('sessionStorage', 'removeItem');
/** Removes the id of the device. Returns that there is none. */
export const forgetDevice = () => store('localStorage', 'removeItem') as undefined;

const readDevice = () => store('localStorage', 'getItem')?.match(ID)?.[0];
/** Finds the device's random id, or draws one. It counts only if it was stored, because another page must find it again. */
export function findDevice(): string | undefined {
  if (!readDevice()) store('localStorage', 'setItem', drawId());
  return readDevice();
}

/** Draws a random id of 16 bytes in hexadecimal digits. */
export const drawId = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => (byte + 256).toString(16).slice(1)).join('');
