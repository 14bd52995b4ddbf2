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

type Area = 'local' | 'session';
type Use = 'get' | 'set' | 'remove';
const store = (area: Area, use: Use, text?: string) =>
  guard(() => window[`${area}Storage`][`${use}Item`]('botPixel', text!) as string | null)();

/** Finds the session that this tab keeps, unless it is the one with this nonce. */
export const findSession = (except?: string) =>
  guard(() => {
    const kept: Session = JSON.parse(store('session', 'get')!);
    return ID.test(kept.nonce) && kept.nonce !== except && kept;
  })();

/** Continues the session of this tab. If there is none, or only the one that is over, begins one. */
export const openSession = (over?: string): Session => keepSession(findSession(over) || { nonce: drawId() });

export const keepSession = (session: Session): Session => {
  store('session', 'set', writeJson(session));
  return session;
};
export const forgetSession = () => store('session', 'remove');
/** Removes the id of the device. Returns that there is none. */
export const forgetDevice = () => store('local', 'remove') as undefined;

export const readDevice = () => store('local', 'get')?.match(ID)?.[0];
/** Finds the device's random id, or draws one. It counts only if it was stored, because another page must find it again. */
export function findDevice(): string | undefined {
  if (!readDevice()) store('local', 'set', drawId());
  return readDevice();
}

/** Draws a random id of 16 bytes in hexadecimal digits. */
export const drawId = () =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => (byte + 256).toString(16).slice(1)).join('');
