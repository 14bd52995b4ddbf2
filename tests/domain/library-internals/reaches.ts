import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** One library, the versions that its file was written for, and what the file depends on: one test for each reach. */
export function describeReaches(
  library: string,
  { version, writtenFor, file }: { version: string; writtenFor: RegExp; file: string },
  reaches: Record<string, () => Promise<void>>,
) {
  describe(`${file} reaches into ${library}`, () => {
    it(`as it is in version ${writtenFor.source}`, () => {
      const advice = `${library} is ${version} now. Read the reaches of ${file} again, run the tests below, then change this version`;
      expect(version, advice).toMatch(writtenFor);
    });

    it.each(Object.entries(reaches))('%s', async (what, drive) => {
      try {
        await drive();
      } catch (cause) {
        const message = `${library} ${version} has moved what ${file} holds on to: ${what}`;
        throw new Error(`${message}\n${cause instanceof Error ? cause.message : cause}`, { cause });
      }
    });
  });
}

export const readVersion = (library: string): string =>
  JSON.parse(readFileSync(`node_modules/${library}/package.json`, 'utf8')).version;
