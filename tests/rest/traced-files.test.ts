import { readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { DOCUMENTS } from '../../app/docs/documents';

// Vercel copies to a function only what the build has traced for its route. Needs the build.

const PIXEL = `pixel/released/${JSON.parse(readFileSync('pixel/released/current.json', 'utf8')).file}`;

it.each<[string, string[]]>([
  ['docs/[name]/page', DOCUMENTS.map(({ file }) => file)],
  [
    'swagger/[[...path]]/route',
    ['swagger-ui-bundle.js', 'swagger-ui.css'].map((name) => `node_modules/swagger-ui-dist/${name}`),
  ],
  ['pixel/[[...path]]/route', ['pixel/released/current.json', PIXEL]],
  ['pixel.js/route', ['pixel/released/current.json', PIXEL]],
  ['dashboard/[integrationId]/settings/page', ['pixel/released/current.json']],
  ['dashboard/[integrationId]/setup/page', ['pixel/released/current.json']],
  [
    'api/inngest/route',
    [
      ...['server/reports/pdf/worker.mjs', 'server/reports/pdf/document.typ'],
      'node_modules/@expo-google-fonts/noto-sans/400Regular/NotoSans_400Regular.ttf',
    ],
  ],
])('a platform copies what %s reads', (route, read) => {
  const trace = resolve(`.next/server/app/${route}.js.nft.json`);
  const { files } = JSON.parse(readFileSync(trace, 'utf8')) as { files: string[] };
  const copied = new Set(files.map((file) => relative(process.cwd(), resolve(dirname(trace), file))));
  expect(read.filter((file) => !copied.has(file))).toEqual([]);
});
