import { attempt } from './guard';

const KEY = 'botPixel';
const ID = /^[\da-f]{32}$/;
const ID_BYTES = 16;
const DOCUMENT_BYTES = 8;

/**
 * A session is a tab. The tab keeps the nonce, the collector's token for it and the name of the GPU, for its next pages and
 * its frames of the same origin.
 */
export interface Session {
  nonce: string;
  token?: string;
  gpu?: string;
}

export const drawDocumentId = () => drawId(DOCUMENT_BYTES);

/** Continues the session of this tab. If there is none, or only the one that is over, begins one. */
export function openSession(over?: Session): Session {
  const kept = attempt(() => JSON.parse(sessionStorage.getItem(KEY)!) as Session | null);
  if (kept && ID.test(kept.nonce) && kept.nonce !== over?.nonce) return kept;
  const session = { nonce: drawId(ID_BYTES), gpu: over?.gpu };
  keepSession(session);
  return session;
}

/** Storage that is refused is replaced by memory. */
export function keepSession(session: Session): void {
  attempt(() => sessionStorage.setItem(KEY, JSON.stringify(session)));
}

/** Finds the device's random id, or draws one. It counts only if it was stored, because another page must find it again. */
export function findDevice(): string | undefined {
  return attempt(() => {
    const kept = localStorage.getItem(KEY) ?? '';
    if (!ID.test(kept)) localStorage.setItem(KEY, drawId(ID_BYTES));
    return localStorage.getItem(KEY) ?? undefined;
  });
}

export function forgetDevice(): void {
  attempt(() => localStorage.removeItem(KEY));
}

export function forgetSession(): void {
  attempt(() => sessionStorage.removeItem(KEY));
}

function drawId(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => (byte + 256).toString(16).slice(1)).join('');
}
