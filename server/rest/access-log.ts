import { createId } from '../platform/ids';
import type { Service } from '../service';

/** The log entry of a request, filled while the endpoint answers it. It holds no text that the client sent. */
export interface Access {
  requestId: string;
  method: string;
  /** A route's template or a procedure's path; never the path or query of the request. */
  route: string;
  startedAt: number;
  integrationId?: string;
  keyId?: string;
  staffId?: string;
  /** The error code, if the request failed. */
  code?: string;
  accepted?: number;
  duplicates?: number;
  suppressed?: number;
}

/** Begins the log entry of a request, with the id that its response carries as `x-request-id`. */
export function beginAccess(method: string, route: string): Access {
  return { requestId: createId('req'), method, route, startedAt: performance.now() };
}

/** Routes that are requested all the time, but not by customers. */
const QUIET_ROUTES = new Set(['/collect', '/health', '/ready', '/openapi/v3.json', '/swagger', '/pixel', '(page)']);

/** Writes the log line of a finished request and counts the request. Never throws. */
export function endAccess(service: Service, access: Access, status: number): void {
  const durationMs = performance.now() - access.startedAt;
  service.metrics.countRequest({ method: access.method, route: access.route, status, durationMs });
  const level = QUIET_ROUTES.has(access.route) ? 'debug' : 'info';
  // If the level is off, do not build the line.
  if (!service.log.isLevelEnabled(level)) return;
  const outcome = { startedAt: undefined, status, durationMs: Math.round(durationMs * 100) / 100 };
  // Faster than a spread that other keys follow (docs/decisions.md).
  const line: object = Object.assign({}, access, outcome);
  service.log[level](line, 'request');
}
