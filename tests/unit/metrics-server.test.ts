import { once } from 'node:events';
import { expect, it, vi } from 'vitest';
import { startMetricsServer } from '../../server/metrics-server';
import { readEnv } from '../../server/platform/env';
import { createLogger } from '../../server/platform/log';
import { createMetrics } from '../../server/platform/metrics';

it('a private port that the system chooses is told in the log', async () => {
  const env = readEnv({ METRICS_PORT: '0', LOG_LEVEL: 'silent' });
  const log = createLogger(env);
  const told = vi.spyOn(log, 'info');
  const server = await startMetricsServer({ env, log, metrics: createMetrics() });
  const [fields] = told.mock.calls.find(([, message]) => message === 'metrics are served')! as unknown as [
    { host: string; port: number },
  ];
  expect((await fetch(`http://${fields.host}:${fields.port}/metrics`)).status).toBe(200);
  const closed = once(server!, 'close');
  server!.close();
  server!.closeAllConnections();
  await closed;
});

it('a fault of the address names its setting', async () => {
  // An address of documentation, which no machine has.
  const env = readEnv({ METRICS_PORT: '0', METRICS_HOST: '192.0.2.1', LOG_LEVEL: 'silent' });
  await expect(startMetricsServer({ env, log: createLogger(env), metrics: createMetrics() })).rejects.toThrow(
    'METRICS_HOST: cannot listen on 192.0.2.1:0 (EADDRNOTAVAIL)',
  );
});
