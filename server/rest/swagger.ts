import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shareResult } from '../platform/shared-result';
import type { RestResponse } from './responses';
import { PAGE_HEADERS, SWAGGER_POLICY } from './security-headers.mjs';

const DIRECTORY = join(process.cwd(), 'node_modules/swagger-ui-dist');

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Bot Detection API</title>
    <link rel="stylesheet" href="/swagger/swagger-ui.css">
    <link rel="icon" type="image/png" href="/swagger/favicon-32x32.png">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="/swagger/swagger-ui-bundle.js"></script>
    <script src="/swagger/start.js"></script>
  </body>
</html>
`;

// Swagger UI has dark colours, but leaves it to the page when to use them.
// "Try it out" calls this server instead of the regions' addresses in the document.
const START = `const dark = matchMedia('(prefers-color-scheme: dark)');
const followTheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followTheme);
followTheme();
fetch('/openapi/v3.json').then((response) => response.json()).then((spec) => {
  spec.servers = [{ url: '/' }];
  SwaggerUIBundle({ spec, dom_id: '#swagger-ui', deepLinking: true, tryItOutEnabled: true, persistAuthorization: false });
});
`;

const HEADERS = { ...PAGE_HEADERS, 'content-security-policy': SWAGGER_POLICY };

/** A file of swagger-ui-dist. All answers share what was read, so that unread answers of one client take no memory each. */
const shareFile = (name: string, type: string) =>
  [name, { type, read: shareResult(() => readFile(join(DIRECTORY, name))) }] as const;

/** The files that the page loads, with their content types. */
const FILES = new Map([
  shareFile('swagger-ui.css', 'text/css; charset=utf-8'),
  shareFile('swagger-ui-bundle.js', 'text/javascript; charset=utf-8'),
  shareFile('favicon-32x32.png', 'image/png'),
]);

/** Reads a file of the interactive documentation at `/swagger`. Returns null for any other path. */
export async function readSwaggerAsset(path: string): Promise<RestResponse | null> {
  if (path === '/swagger' || path === '/swagger/') return respond('text/html; charset=utf-8', PAGE);
  const name = path.slice('/swagger/'.length);
  if (!path.startsWith('/swagger/')) return null;
  if (name === 'start.js') return respond('text/javascript; charset=utf-8', START);
  const file = FILES.get(name);
  return file ? respond(file.type, await file.read()) : null;
}

function respond(type: string, body: string | Uint8Array): RestResponse {
  return { status: 200, headers: { ...HEADERS, 'content-type': type, 'cache-control': 'public, max-age=300' }, body };
}
