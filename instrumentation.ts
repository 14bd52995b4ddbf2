/** Next calls it once, before it answers requests. With `npm start` the console is redirected already. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME !== 'nodejs' || process.env.NODE_ENV !== 'production') return;
  const { findFaultLevel } = await import('./db/errors');
  const { redirectConsole } = await import('./server/platform/console');
  const { createLogger } = await import('./server/platform/log');
  const { readEnv } = await import('./server/platform/env');
  redirectConsole(createLogger(readEnv(process.env)), findFaultLevel);
}
