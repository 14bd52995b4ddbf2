import type { Service } from '../service';
import { jsonResponse, type RestResponse } from './responses';

/**
 * Answers `GET /ready`: 200 where the database answers, has every migration of this build, and the engine works; else 503.
 * Draining is 503 at once. Never rejects and never waits longer than the checks' own deadline.
 */
export async function answerReadiness(service: Service): Promise<RestResponse> {
  const headers = { 'cache-control': 'no-store' };
  const checks = await service.readiness.check();
  const isReady = Object.values(checks).every((outcome) => outcome === 'ok');
  if (service.readiness.isDraining) return jsonResponse(503, headers, { status: 'draining', checks });
  return jsonResponse(isReady ? 200 : 503, headers, { status: isReady ? 'ready' : 'unavailable', checks });
}
