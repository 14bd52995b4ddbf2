// `node server/start.mjs main|admin|build`: builds what is missing or stale, then imports the entry into this same
// process, so that it receives signals and sets the exit code itself.
import { buildIfNeeded } from './build.mjs';

const [entry, ...rest] = process.argv.slice(2);
if (!['main', 'admin', 'build'].includes(entry)) {
  process.stderr.write('usage: node server/start.mjs main|admin|build\n');
  process.exit(1);
}
// No network traffic that the operator did not ask for.
process.env.NEXT_TELEMETRY_DISABLED ??= '1';
await buildIfNeeded('server');
if (entry !== 'admin') await buildIfNeeded('next');
if (entry !== 'build') {
  // Whatever the shell exports: with another value Next would compile each page when it is asked for, under a weaker policy.
  process.env.NODE_ENV = 'production';
  process.argv = [process.argv[0], process.argv[1], ...rest];
  await import(`../dist/${entry}.mjs`);
}
