import { Worker } from 'node:worker_threads';
import type { DocumentData } from './document';
import { LAYOUT_PATH, WORKER_PATH } from './files';
import { findFonts } from './fonts';

/** A document of all rows that one may list takes a few seconds. */
const LIMIT_MS = 50_000;

let last: Promise<unknown> = Promise.resolve();

/** Sets a document, one at a time in a process, because each takes about 150 MB until it is done. */
export function renderPdf(data: DocumentData): Promise<Buffer> {
  const rendered = last.then(() => renderInThread(data));
  last = rendered.catch(() => {});
  return rendered;
}

function renderInThread(data: DocumentData): Promise<Buffer> {
  const { families, paths } = findFonts(JSON.stringify(data));
  const worker = new Worker(/* turbopackIgnore: true */ WORKER_PATH, {
    workerData: {
      data: JSON.stringify({ ...data, fonts: families }),
      layoutPath: LAYOUT_PATH,
      fontPaths: paths,
    },
  });
  return new Promise<Buffer>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(new Error('the document took too long'));
      void worker.terminate();
    }, LIMIT_MS);
    worker.once('message', (bytes: Uint8Array) => resolve(Buffer.from(bytes)));
    worker.once('error', reject);
    worker.once('exit', () => {
      clearTimeout(timer);
      reject(new Error('the thread ended without a document'));
    });
  });
}
