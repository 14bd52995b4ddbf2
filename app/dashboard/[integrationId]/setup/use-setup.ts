import { useQuery } from '@tanstack/react-query';
import type { Setup, SetupStep } from '../../../../contract/setup';
import { useTRPC } from '../../queries';

const REFRESH_MS = 2_000;
/** The session of the first batch is stored a moment after it. */
const ORIGIN_MS = 30_000;

export const STEP_WORDS: Record<SetupStep, string> = {
  origins: 'Allowed origins',
  pixel: 'The pixel on a page',
  apiKey: 'An API key',
  webhook: 'A webhook that arrives',
};

/** What is done and what is not, without the steps that the plan does not have. */
export const listSteps = ({ done }: Setup) =>
  (Object.keys(STEP_WORDS) as SetupStep[]).map((step) => ({ step, name: STEP_WORDS[step], isDone: done[step] }));

/** How many steps are done, in words. */
export function countSteps(setup: Setup): string {
  const steps = listSteps(setup).filter(({ isDone }) => isDone !== null);
  return `${steps.filter(({ isDone }) => isDone).length} of ${steps.length} steps done`;
}

const isWaiting = ({ isComplete, firstEvent }: Setup) =>
  !isComplete || (firstEvent?.origin === null && Date.now() - Date.parse(firstEvent.at) < ORIGIN_MS);

interface SetupOptions {
  /** Asks again every two seconds while the page is visible. */
  isLive?: boolean;
  /** What the server knew when it rendered the page. */
  initial?: Setup;
  /** Does not ask. */
  isOff?: boolean;
}

/** How far the integration is set up. */
export function useSetup({ isLive = false, initial, isOff = false }: SetupOptions = {}) {
  const trpc = useTRPC();
  return useQuery(
    trpc.setup.get.queryOptions(undefined, {
      enabled: !isOff,
      initialData: initial,
      refetchInterval: ({ state }) => (isLive && (!state.data || isWaiting(state.data)) ? REFRESH_MS : false),
    }),
  );
}
