import { BotDetectionError } from './errors.js';
import type { Schemas } from './operations.js';
import { createResources } from './resources.js';
import { Transport } from './transport.js';

export type Region = Schemas['Integration']['region'];

export type ClientOptions = {
  /** A key of the region. Keep it on servers: it never belongs into a page. */
  apiKey: string;
  /** The time limit of each attempt, by default 30,000. */
  timeoutMs?: number;
  /** How often a request may be sent again, by default 3. */
  maxRetries?: number;
} & (
  | {
      /** The address of the API, without `/v1`. */
      baseUrl: string;
    }
  | {
      /** The addresses of the API by region. */
      baseUrl: Partial<Record<Region, string>>;
      region: Region;
    }
);

/** The methods of the API by resource. */
export interface BotDetectionClient extends ReturnType<typeof createResources> {}

/** Creates a client. It keeps no state except its options, so one can serve a whole process. */
export function createClient(options: ClientOptions): BotDetectionClient {
  const { apiKey, timeoutMs = 30_000, maxRetries = 3 } = options;
  return createResources(new Transport({ apiKey, baseUrl: chooseBaseUrl(options), timeoutMs, maxRetries }));
}

function chooseBaseUrl(options: ClientOptions): string {
  if (typeof options.baseUrl === 'string') return options.baseUrl;
  const { baseUrl, region } = options as Extract<ClientOptions, { region: Region }>;
  const chosen = baseUrl?.[region];
  if (chosen === undefined) throw new BotDetectionError(`baseUrl has no address for the region ${region}`);
  return chosen;
}
