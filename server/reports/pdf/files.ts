import { join } from 'node:path';

// The files that the thread of documents reads. Nothing bundles them, so they are found from the root of the installation. They
// are named here, in a separate file and behind a marker, because Next would follow the path of a thread, and take all fonts
// along with every route.

const ROOT = join(/* turbopackIgnore: true */ process.cwd());

export const WORKER_PATH = join(/* turbopackIgnore: true */ ROOT, 'server/reports/pdf/worker.mjs');
export const LAYOUT_PATH = join(/* turbopackIgnore: true */ ROOT, 'server/reports/pdf/document.typ');
export const PACKAGES_DIRECTORY = join(/* turbopackIgnore: true */ ROOT, 'node_modules');
