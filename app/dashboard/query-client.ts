import {
  type FetchQueryOptions,
  MutationCache,
  notifyManager,
  QueryCache,
  QueryClient,
  type QueryKey,
} from '@tanstack/react-query';
import { holdsTypedText } from './typed-text';

/** Data younger than this is shown without reading it again. */
export const FRESH_MS = 30_000;
const MAX_RETRIES = 2;

// A button that sends something is disabled before the next event. With TanStack's timer, the second click of a double-click came first
// on a slow machine, and made another integration or key.
notifyManager.setScheduler(queueMicrotask);

/** What tRPC tells about a refused call, on both sides of the wire. */
interface Refusal {
  message: string;
  data?: { code?: string; httpStatus?: number; field?: string } | null;
}

/** Finds the code of a refused call (`NOT_FOUND`, `FORBIDDEN` …); null for other errors. */
export const findCode = (error: unknown) => (error as Refusal | null)?.data?.code ?? null;

/** Finds the input field that a call was refused for. */
export const findField = (error: unknown) => (error as Refusal | null)?.data?.field ?? null;

/** Changes that were sent and got no answer, so that nobody knows whether they were made. */
const unanswered = new WeakSet<Error>();

/** Explains to the user why a call failed. */
export function describeError(error: unknown): string {
  if (findCode(error) === null)
    return unanswered.has(error as Error)
      ? 'The server could not be reached. It may have been done all the same: look before you try again.'
      : 'The server could not be reached.';
  return (error as Refusal).message;
}

/**
 * Finds why an input was refused for this field or a part of it; null if it was not. The message shows below the field,
 * so the field's name is left out.
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

/**
 * Reads what the server has now. Otherwise a read that began before would be shared, and may answer with the old state.
 * Throws if it fails.
 */
export async function readNow<Answer, Failure, Data, Key extends QueryKey>(
  queryClient: QueryClient,
  options: FetchQueryOptions<Answer, Failure, Data, Key>,
): Promise<Data> {
  await queryClient.cancelQueries({ queryKey: options.queryKey });
  return queryClient.fetchQuery({ ...options, staleTime: 0 });
}

/**
 * Creates the cache for one integration. It lives for one request on the server, and as long as the shell is mounted in
 * a browser.
 */
export function createQueryClient(): QueryClient {
  const queryClient = new QueryClient({
    queryCache: new QueryCache({ onError: leaveWhenSignedOut, onSuccess: () => tellAbsence(null) }),
    mutationCache: new MutationCache({
      onSuccess: () => tellAbsence(null),
      onError: (error, _variables, _result, { meta }) => {
        const hasNoAnswer = findCode(error) === null && navigator.onLine && !meta?.mayRepeat;
        if (hasNoAnswer) unanswered.add(error);
        // What the page shows is outdated, or may be.
        if (hasNoAnswer || findCode(error) === 'NOT_FOUND') void queryClient.invalidateQueries();
      },
    }),
    // Without the network a call fails at once and says so. TanStack would keep it instead, and send it minutes later: also an erasure
    // whose dialog was cancelled since.
    defaultOptions: {
      queries: {
        networkMode: 'always',
        refetchOnReconnect: true,
        staleTime: FRESH_MS,
        // The server does not retry, so that it answers at once; the browser repeats what failed.
        retry: (failures, error) => typeof window !== 'undefined' && !isRefusal(error) && failures < MAX_RETRIES,
      },
      mutations: { networkMode: 'always', onError: leaveWhenSignedOut },
    },
  });
  return queryClient;
}

/** The sign-in that leads back to this page. */
export const nameSignIn = () =>
  `/sign-in?next=${encodeURIComponent(window.location.pathname + window.location.search)}`;

/** Whether a call was refused because another tab has signed in another account than the one that the page shows. */
export const isOtherAccount = (error: unknown) => findField(error) === 'x-staff-id';

/** Leaves for the sign-in. A page with text that somebody has typed stays instead, and says why. */
function leaveWhenSignedOut(error: unknown) {
  if (findCode(error) !== 'UNAUTHORIZED' || typeof window === 'undefined') return;
  if (holdsTypedText(document)) tellAbsence(isOtherAccount(error) ? 'OtherAccount' : 'SignedOut');
  else window.location.assign(nameSignIn());
}

/** Why the page stays although its account is not signed in any more. Always null on the server, where requests would share it. */
export type Absence = 'SignedOut' | 'OtherAccount';
let absence: Absence | null = null;
const listeners = new Set<() => void>();

function tellAbsence(now: Absence | null) {
  if (absence === now) return;
  absence = now;
  for (const listener of listeners) listener();
}

export const readAbsence = () => absence;
export function subscribeAbsence(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}
