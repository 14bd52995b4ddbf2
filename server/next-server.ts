import { Server } from 'node:http';
import { type Handler, mountApi, stopHttpServer } from './http-server';
import { startMetricsServer } from './metrics-server';
import { SettingError } from './platform/env';
import { isServiceHeld } from './platform/service';
import { closeService, getService, type Service } from './service';

const GRACE_MS = 10_000;

/**
 * Puts the API in front of the server that plain `next start` listens with. Does nothing in the self-hosted process,
 * whose server has it already, and where no server listens.
 */
export function takeNextServer(): void {
  if (isServiceHeld()) return;
  const server = findListeningServer();
  if (!server) return;
  const [next] = server.listeners('request') as [Handler];
  // Next has no use for upgrades in production and hangs up on every client that offers one (`curl --http2`).
  server.removeAllListeners('request').removeAllListeners('upgrade');
  const service = openService();
  mountApi(server, service, next);
  endOnSignals(server, service);
  startMetricsServer(service).catch((error: unknown) => {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exit(1);
  });
}

/** Next would end the process at once: what is in flight and what was counted would be lost. */
function endOnSignals(server: Server, service: Service) {
  const end = async () => {
    service.readiness.isDraining = true;
    await stopHttpServer(server, GRACE_MS);
    await closeService(service, 0);
    process.exit(0);
  };
  let ending: Promise<void> | null = null;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.removeAllListeners(signal).on(signal, () => (ending ??= end()));
}

/** Next hands its server to nobody. Node's list of open handles is undocumented; without it the route handlers answer. */
function findListeningServer(): Server | undefined {
  const { _getActiveHandles: list } = process as unknown as { _getActiveHandles?(): unknown[] };
  return list?.call(process).find((handle) => handle instanceof Server);
}

/** A wrong setting ends the process with one line, as it does where we start it ourselves. */
function openService(): Service {
  try {
    return getService();
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
