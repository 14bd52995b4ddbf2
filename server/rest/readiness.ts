import type { Service } from '../service';
import { createJsonResponse, type RestResponse } from './responses';

/**
 * Answers `GET /ready`: 200 if the database answers and has every migration of this build, and the engine works; else 503.
 * While the process is draining, the answer is always 503. Never rejects, and waits at most for the deadline of the checks.
 */
export async function answerReadiness(service: Service): Promise<RestResponse> {
  const headers = { 'cache-control': 'no-store' };
  const checks = await service.readiness.check();
  const isReady = Object.values(checks).every((outcome) => outcome === 'ok');
  if (service.readiness.isDraining) return createJsonResponse(503, headers, { status: 'draining', checks });
  return createJsonResponse(isReady ? 200 : 503, headers, { status: isReady ? 'ready' : 'unavailable', checks });
}
