// `node server/start.mjs main|admin|build`: builds what is missing or stale, then runs the entry in this very process, so
// that signals and exit codes are its own.
import { buildIfNeeded } from './build.mjs';

const [entry, ...rest] = process.argv.slice(2);
// No traffic but the operator's own.
process.env.NEXT_TELEMETRY_DISABLED ??= '1';
await buildIfNeeded('server');
if (entry !== 'admin') await buildIfNeeded('next');
if (entry !== 'build') {
  process.env.NODE_ENV ??= 'production';
  process.argv = [process.argv[0], process.argv[1], ...rest];
  process.setSourceMapsEnabled(true);
  await import(`../dist/${entry}.mjs`);
}
