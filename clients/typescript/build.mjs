// Compiles src/ to JavaScript and declarations in dist/, with the repository's compiler: `npm run build`, and `npm pack` does it too.
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const home = dirname(fileURLToPath(import.meta.url));
rmSync(join(home, 'dist'), { recursive: true, force: true });
const compiler = createRequire(import.meta.url).resolve('typescript-5/bin/tsc');
// npm pack prints its result as JSON to stdout, so what the compiler says goes to stderr.
execFileSync(process.execPath, [compiler, '-p', home], { stdio: ['ignore', 2, 2] });
