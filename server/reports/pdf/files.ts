import { join } from 'node:path';

// The files that the thread of documents reads. Nothing bundles them, so they are found from the root of the installation. They
// are named here, in a file of their own, because Next would follow a path that it sees next to `new Worker`.

const ROOT = /* turbopackIgnore: true */ process.cwd();

export const WORKER_PATH = join(ROOT, 'server/reports/pdf/worker.mjs');
export const LAYOUT_PATH = join(ROOT, 'server/reports/pdf/document.typ');
export const FONTS_DIRECTORY = join(ROOT, 'node_modules/@expo-google-fonts');
