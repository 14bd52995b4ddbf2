import { EXTERNAL_PACKAGES } from './server/external-packages.mjs';
import { ANSWER_HEADERS } from './server/rest/security-headers.mjs';

/** @type {import('next').NextConfig} */
const config = {
  // `/v1/sessions/` is an unknown path of the API, not a redirect.
  skipTrailingSlashRedirect: true,
  poweredByHeader: false,
  // A page is loaded when it is first visited. Loading all of them would take a third of the CPU time of a start, which
  // a process that only serves the API never gets back.
  experimental: { preloadEntriesOnStart: false },
  // Nothing uses the optimizer: `/_next/image` is an unknown path.
  images: { unoptimized: true },
  // For platforms that serve files and routes themselves. Our own servers set these headers on every response.
  headers: async () => [
    { source: '/:path*', headers: Object.entries(ANSWER_HEADERS).map(([key, value]) => ({ key, value })) },
  ],
  serverExternalPackages: EXTERNAL_PACKAGES,
  // The keys are globs: brackets would stand for one character.
  outputFileTracingIncludes: {
    '/swagger/*': ['./node_modules/swagger-ui-dist/*'],
    '/docs/*': ['./docs/*.md', './clients/*/README.md', './CHANGELOG.md'],
    '/pixel/*': ['./pixel/released/*'],
    '/pixel.js': ['./pixel/released/*'],
    // The thread that sets documents, which no build bundles.
    '/api/inngest': [
      './server/reports/pdf/*',
      './node_modules/@myriaddreamin/typst-ts-web-compiler/**',
      './node_modules/@expo-google-fonts/**/*_400Regular.ttf',
      './node_modules/@expo-google-fonts/noto-sans/700Bold/*.ttf',
      './node_modules/@embedpdf/fonts-sc/fonts/*-Regular.otf',
    ],
    '/dashboard/*/settings': ['./pixel/released/current.json'],
    '/dashboard/*/setup': ['./pixel/released/current.json'],
  },
  // Types are checked by `npm test`, for the whole project at once.
  typescript: { ignoreBuildErrors: true },
};

export default config;
