export { type BotDetectionClient, type ClientOptions, createClient, type Region } from './client.js';
export {
  ApiError,
  AuthenticationError,
  BotDetectionError,
  ConnectionError,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  PlanLimitError,
  RateLimitError,
  SecretLostError,
  ServerError,
  TimeoutError,
} from './errors.js';
export type { Body, Data, Filters, PostOptions, RequestOptions, Schemas } from './operations.js';
export type { Page, PagedList } from './pages.js';
export type { components, operations, paths, webhooks } from './schema.js';
