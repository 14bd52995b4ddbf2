import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { API_VERSION } from '../../../contract/version';
import { bundleChildScript, type ChildScript } from '../../support/child-script';
import { findObjections } from '../../support/compatibility';
import { releaseDocument } from '../../support/released-document';
import type { Json } from '../../support/schema-compatibility';
import { current, released } from './compared-documents';

export function registerReleaseTests(): void {
  describe('the product', () => {
    const objectionsTo = (mutate: (document: Json) => void) => {
      const later = structuredClone(released);
      mutate(later);
      return findObjections(released, later);
    };

    it('is compatible with the released document, and every change comes with a higher version', () => {
      expect(findObjections(released, current)).toEqual([]);
    });

    it('would fail otherwise', () => {
      const { version } = released.info;
      expect(objectionsTo((d) => Object.assign(d, { servers: [{ url: 'https://example.com' }] }))).toEqual([]);
      expect(objectionsTo((d) => Object.assign(d.info, { title: 'x' }))).toEqual([
        `the document changed, and its version is still ${version}`,
      ]);
      const [major, minor] = version.split('.').map(Number);
      expect(objectionsTo((d) => Object.assign(d.info, { title: 'x', version: `${major}.${minor + 10}.0.0` }))).toEqual(
        [],
      );
      expect(objectionsTo((d) => Object.assign(d.info, { version: '0.99.99.99' }))).toEqual([
        `the version 0.99.99.99 is below the released ${version}`,
      ]);
      expect(objectionsTo((d) => delete d.paths['/health'])[0]).toBe('GET /health is gone');
    });

    it('was released without a list of servers', () => {
      expect(released.servers.map(({ url }: { url: string }) => url)).toEqual(['/']);
    });

    it('has its version at the top of the changelog', () => {
      expect(current.info.version).toBe(API_VERSION);
      expect(/^## (.+)$/m.exec(readFileSync('CHANGELOG.md', 'utf8'))?.[1]).toBe(API_VERSION);
    });
  });

  describe('a release', () => {
    const directory = mkdtempSync(join(tmpdir(), 'openapi-'));
    const path = join(directory, 'openapi.json');
    let command: ChildScript;
    const run = () => {
      try {
        const options = { encoding: 'utf8', stdio: 'pipe' } as const;
        return { code: 0, text: execFileSync(process.execPath, [command.path, path], options) };
      } catch (error) {
        const { status, stderr } = error as { status: number; stderr: string };
        return { code: status, text: stderr };
      }
    };
    const write = (mutate: (document: Json) => void) => {
      const document = structuredClone(current);
      mutate(document);
      writeFileSync(path, JSON.stringify(document));
    };
    const read = () => JSON.parse(readFileSync(path, 'utf8'));
    beforeAll(async () => {
      command = await bundleChildScript('tests/support/write-document.ts');
    });
    afterAll(async () => {
      rmSync(directory, { recursive: true });
      await command.remove();
    });

    it('writes the document where there is none, and where additions have a higher version', () => {
      expect(releaseDocument(path, current)).toEqual([]);
      expect(read()).toEqual(current);
      expect(releaseDocument(path, current)).toEqual([]);
      write((d) => {
        delete d.paths['/health'];
        d.info.version = '1.0.0.0';
      });
      expect(releaseDocument(path, current)).toEqual([]);
      expect(read()).toEqual(current);
    });

    it('refuses breaking changes, and changes under the same version', () => {
      write((d) => {
        d.paths['/v1/gone'] = { get: d.paths['/health'].get };
        d.info.version = '1.0.0.0';
      });
      const before = read();
      expect(releaseDocument(path, current)).toEqual(['GET /v1/gone is gone']);
      expect(read()).toEqual(before);
      write((d) => delete d.paths['/health']);
      expect(releaseDocument(path, current)).toEqual([expect.stringContaining(`its version is still ${API_VERSION}`)]);
    });

    it('takes a breaking change that is accepted for its version, and for no other', () => {
      const items = (d: Json) => d.components.schemas.Threshold.properties.value.anyOf.at(-1);
      write((d) => {
        items(d).items = { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] };
        d.info.version = '1.5.0.0';
      });
      const later = structuredClone(current);
      later.info.version = '1.99.0.0';
      expect(releaseDocument(path, later)).toHaveLength(4);
      later.info.version = '1.6.0.0';
      expect(releaseDocument(path, later)).toEqual([]);
    });

    it('has a command, which exits with 1 and names what it refuses', () => {
      rmSync(path);
      expect(run().code).toBe(0);
      expect(read()).toEqual(current);
      write((d) => {
        d.paths['/v1/gone'] = { get: d.paths['/health'].get };
        d.info.version = '1.0.0.0';
      });
      const before = read();
      expect(run()).toEqual({ code: 1, text: expect.stringContaining('- GET /v1/gone is gone\n') });
      expect(read()).toEqual(before);
    });
  });
}
