'use client';
import { useCallback, useEffect, useState } from 'react';

/**
 * Loads a part of the page's script once it is needed. Without a network, or if a newer version of the server has no such file any more,
 * the page stays as it is and `retry` tries again. `load` must not change.
 */
export function useLoadedPart<Part>(load: () => Promise<Part>, isNeeded: boolean) {
  const [part, setPart] = useState<{ loaded: Part } | null>(null);
  const [hasFailed, setFailed] = useState(false);
  const retry = useCallback(() => {
    setFailed(false);
    load().then(
      (loaded) => setPart({ loaded }),
      () => setFailed(true),
    );
  }, [load]);
  useEffect(() => {
    if (isNeeded) retry();
  }, [isNeeded, retry]);
  return { part: part?.loaded ?? null, hasFailed, retry };
}
