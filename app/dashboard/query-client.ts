import { QueryCache, QueryClient } from '@tanstack/react-query';

const FRESH_MS = 30_000;
const MAX_RETRIES = 2;

/** What tRPC says of a refusal, on both sides of the wire. */
interface Refusal {
  message: string;
  data?: { code?: string; httpStatus?: number; field?: string } | null;
}

/** The code of a refused call (`NOT_FOUND`, `FORBIDDEN` …); null for other faults. */
export const findCode = (error: unknown) => (error as Refusal | null)?.data?.code ?? null;

/** The field of the input that a call was refused for. */
export const findField = (error: unknown) => (error as Refusal | null)?.data?.field ?? null;

/** Says why a call failed, to the person who made it. */
export function describeError(error: unknown): string {
  if (findCode(error) === null) return 'The server could not be reached.';
  return (error as Refusal).message;
}

/**
 * Why an input was refused for this field, or for a part of it; null where it was not. Stands below the field's control,
 * so without its name.
 */
export function findFault(error: unknown, field: string): string | null {
  const found = findField(error);
  if (found?.split('.')[0] !== field) return null;
  const message = describeError(error);
  return message.startsWith(`${found}: `) ? message.slice(found.length + 2) : message;
}

const isRefusal = (error: unknown) => {
  const status = (error as Refusal | null)?.data?.httpStatus ?? 500;
  return status >= 400 && status < 500;
};

/** Makes the cache of one integration's answers, for one request on the server, for as long as the shell stands in a browser. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({ onError: leaveWhenSignedOut }),
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        // The server answers at once: what failed there is asked for again by the browser.
        retry: (failures, error) => typeof window !== 'undefined' && !isRefusal(error) && failures < MAX_RETRIES,
      },
      mutations: { onError: leaveWhenSignedOut },
    },
  });
}

function leaveWhenSignedOut(error: unknown) {
  if (findCode(error) !== 'UNAUTHORIZED' || typeof window === 'undefined') return;
  window.location.assign(`/sign-in?next=${encodeURIComponent(window.location.pathname + window.location.search)}`);
}
