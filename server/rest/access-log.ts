import { createId } from '../platform/ids';
import type { Service } from '../service';

/** A request on its way through a door, and what the door learns about it. Nothing that was sent is kept. */
export interface Access {
  requestId: string;
  method: string;
  /** A route's template or a procedure's path; never a path or query as it was sent. */
  route: string;
  startedAt: number;
  integrationId?: string;
  keyId?: string;
  staffId?: string;
  /** The error's code, where there was one. */
  code?: string;
  accepted?: number;
  duplicates?: number;
  suppressed?: number;
}

/** Begins a request's line in the log, with the id that its answer carries as `x-request-id`. */
export function beginAccess(method: string, route: string): Access {
  return { requestId: createId('req'), method, route, startedAt: performance.now() };
}

/** What is asked all the time, and by no customer. */
const QUIET_ROUTES = new Set(['/health', '/ready', '/openapi/v3.json', '/swagger', '(page)']);

/** Writes a finished request's line and counts it. Never throws. */
export function endAccess(service: Service, access: Access, status: number): void {
  const durationMs = performance.now() - access.startedAt;
  service.metrics.countRequest({ method: access.method, route: access.route, status, durationMs });
  const level = QUIET_ROUTES.has(access.route) ? 'debug' : 'info';
  // What nobody will read is not put together.
  if (!service.log.isLevelEnabled(level)) return;
  const line = { ...access, startedAt: undefined, status, durationMs: Math.round(durationMs * 100) / 100 };
  service.log[level](line, 'request');
}
