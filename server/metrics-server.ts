import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SettingError } from './platform/env';
import type { Service } from './service';

/** An address has neither of the two faults of a port: another process has it, or the system keeps it for itself. */
const nameSetting = (code: string | undefined) =>
  code === 'EADDRINUSE' || code === 'EACCES' ? 'METRICS_PORT' : 'METRICS_HOST';

/**
 * Serves `GET /metrics` on METRICS_PORT, which only the operator's network should reach. Returns null if the port is
 * not set.
 */
export async function startMetricsServer({
  env,
  metrics,
  log,
}: Pick<Service, 'env' | 'metrics' | 'log'>): Promise<Server | null> {
  const { METRICS_PORT: port, METRICS_HOST: host } = env;
  if (port === undefined) return null;
  const server = createServer({ headersTimeout: 5_000, requestTimeout: 5_000 }, (request, response) => {
    if (request.method !== 'GET' || request.url !== '/metrics') return void response.writeHead(404).end('Not found\n');
    metrics.scrape().then(
      ({ contentType, text }) => response.writeHead(200, { 'content-type': contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(new SettingError(`${nameSetting(code)}: cannot listen on ${host}:${port} (${code})`)),
    );
    server.listen(port, host, resolve);
  });
  // Nothing else tells a port that the system has chosen.
  log.info({ host, port: (server.address() as AddressInfo).port }, 'metrics are served');
  return server.unref();
}
