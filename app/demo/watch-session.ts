'use client';
import { useEffect, useState } from 'react';
import type { DemoVerdict } from '../../contract/demo';

const POLL_MS = 1_000;
/** Until the pixel has begun a session. */
const START_POLL_MS = 200;
/** After this time without a session, something keeps the pixel from sending. */
const SILENT_MS = 6_000;
/** Where the pixel keeps the session of the tab. */
const STORAGE_KEY = 'botPixel';

export interface Watched {
  verdict: DemoVerdict | null;
  /** What keeps the page from knowing more; null while all is well. */
  trouble: 'privacyControl' | 'silent' | 'unreachable' | null;
  isEnding: boolean;
  end(): void;
}

/** Asks the server about this tab's session once a second until it is closed. */
export function useWatchedSession(): Watched {
  const [verdict, setVerdict] = useState<DemoVerdict | null>(null);
  const [trouble, setTrouble] = useState<Watched['trouble']>(null);
  /** Kept because the pixel draws another nonce after the end. */
  const [endingNonce, setEndingNonce] = useState<string | null>(null);
  useEffect(() => {
    const startedMs = performance.now();
    let timer: ReturnType<typeof setTimeout>;
    let isOver = false;
    const again = (ms: number) => {
      if (!isOver) timer = setTimeout(look, ms);
    };
    const look = async () => {
      const nonce = endingNonce ?? readNonce();
      const isSilent = performance.now() - startedMs > SILENT_MS;
      if (nonce === null) {
        setTrouble(hasPrivacyControl() ? 'privacyControl' : isSilent ? 'silent' : null);
        return again(START_POLL_MS);
      }
      const asked = await askVerdict(nonce);
      if (isOver) return;
      if (asked) setVerdict(asked);
      setTrouble(asked === null ? 'unreachable' : asked.session === null && isSilent ? 'silent' : null);
      if (asked?.session?.closedAt == null) again(POLL_MS);
    };
    void look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [endingNonce]);
  const end = () => {
    setEndingNonce(readNonce());
    const page = window as unknown as { botPixel?: unknown[] };
    page.botPixel ??= [];
    page.botPixel.push(['end']);
  };
  return { verdict, trouble, isEnding: endingNonce !== null, end };
}

function readNonce(): string | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(STORAGE_KEY) ?? '{}') as { nonce?: string };
    return kept.nonce ?? null;
  } catch {
    return null;
  }
}

const hasPrivacyControl = () => (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl === true;

/** Null if the server could not be asked. */
async function askVerdict(nonce: string): Promise<DemoVerdict | null> {
  try {
    const response = await fetch('/demo/verdict', { method: 'POST', body: nonce });
    return response.ok ? ((await response.json()) as DemoVerdict) : null;
  } catch {
    return null;
  }
}
