import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { readEnv } from '../../server/platform/env';
import { readDocument } from '../../server/rest/document';

/** Problems that we leave, each with its reason. */
const EXCEPTIONS: Record<string, string> = {
  'operation-4xx-response #/paths/~1health/get/responses':
    'Health takes no input and no key: it is never the client’s fault.',
};

/** Lints a document with Redocly’s recommended rules. Answers each problem as its rule and its place. */
async function lint(document: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: document, absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId, location }) => `${ruleId} ${location[0]?.pointer}`);
}

describe('Redocly’s recommended rules', () => {
  const document = readDocument(readEnv({})).body as string;

  it('find no problem in the document, neither error nor warning, except these exceptions', async () => {
    expect((await lint(document)).sort()).toEqual(Object.keys(EXCEPTIONS).sort());
  });

  it('find the faults of a faulty document', async () => {
    const broken = JSON.parse(document);
    delete broken.paths['/v1/sessions'].get.summary;
    delete broken.paths['/v1/sessions/{sessionId}'].get.parameters;
    broken.paths['/v1/integration'].get.responses['401'].content['application/json'].examples.INVALID_API_KEY.value =
      {};
    const problems = await lint(JSON.stringify(broken));
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual(
      expect.arrayContaining(['operation-summary', 'path-parameters-defined', 'no-invalid-media-type-examples']),
    );
  });
});
