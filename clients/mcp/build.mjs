// Bundles src/ into the one file dist/main.js: `npm run build`, and `npm pack` does it too. `npm run typecheck` of the
// repository checks the types.
import { chmodSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const home = dirname(fileURLToPath(import.meta.url));
const outfile = join(home, 'dist/main.js');
rmSync(join(home, 'dist'), { recursive: true, force: true });
buildSync({
  absWorkingDir: home,
  entryPoints: ['src/main.ts'],
  outfile,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: ['@modelcontextprotocol/sdk/*'],
  // Our client is in no registry, where anybody could publish a package of its name. So it becomes a part of this one.
  alias: { 'bot-detection-client': '../typescript/src/index.ts' },
  tsconfigRaw: {},
  logLevel: 'warning',
});
chmodSync(outfile, 0o755);
