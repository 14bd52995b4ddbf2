import { readEnv } from '../../server/platform/env';
import { readDocument } from '../../server/rest/document';
import { releaseDocument } from './released-document';

// The release command (`npm run openapi`): writes the current document to docs/openapi.json, or to the file that is
// named. It refuses if that breaks the document there, or differs from it under the same version.
const path = process.argv[2] ?? 'docs/openapi.json';
const current = JSON.parse(readDocument(readEnv({})).body as string);
const objections = releaseDocument(path, current);
if (objections.length > 0) {
  process.stderr.write(`${path} stays as it is:\n${objections.map((line) => `- ${line}\n`).join('')}`);
  process.exitCode = 1;
} else {
  process.stdout.write(`${path} is the document of version ${current.info.version}\n`);
}
