import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CLIENTS } from '../../clients/generate.mjs';

// What is generated for the clients is committed, so that a reader sees it. `npm run clients` writes it.

/** tests/clients/python.test.ts compares what is generated for Python, because that needs packages of Python. */
const { python: _, ...inNode } = CLIENTS;

const readDocument = () => JSON.parse(readFileSync('docs/openapi.json', 'utf8'));

describe.each(Object.entries(inNode))('the generated part of the client %s', (_name, generate) => {
  it('is what docs/openapi.json gives, which `npm run clients` writes', async () => {
    const files = await generate(readDocument());
    expect(Object.keys(files).length).toBeGreaterThan(0);
    const outdated = Object.entries(files).filter(([path, text]) => readFileSync(path, 'utf8') !== text);
    expect(outdated.map(([path]) => path)).toEqual([]);
  });

  it('changes with the document', async () => {
    const document = readDocument();
    // Some clients take only answers from the document, some only requests.
    document.components.schemas.Health.properties.later = { type: 'string' };
    document.paths['/v1/users'].get.parameters.push({ name: 'later', in: 'query', schema: { type: 'string' } });
    const files = await generate(document);
    const changed = Object.entries(files).filter(([path, text]) => readFileSync(path, 'utf8') !== text);
    expect(changed).not.toEqual([]);
  });
});

it.each(['docs/quickstart.md', 'clients/typescript/README.md', 'clients/mcp/README.md'])(
  '%s says that the repository is installed first where it packs a client, because that compiles it',
  (path) => {
    const paragraphs = readFileSync(path, 'utf8').split('\n\n');
    expect(
      paragraphs.filter((text) => /`CLIENTS` is|`npm pack` in/.test(text) && !text.includes('`npm install`')),
    ).toEqual([]);
  },
);
