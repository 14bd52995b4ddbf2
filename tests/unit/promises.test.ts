import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

// docs/privacy.md and SECURITY.md name the tests that hold what they promise.

const NAMED = /`(tests\/[\w./-]+\.ts)`((?: (?:and )?"[^"]+",?)*)/g;

it.each(['docs/privacy.md', 'SECURITY.md'])('the tests that %s names exist', (document) => {
  const found = [...readFileSync(document, 'utf8').matchAll(NAMED)];
  expect(found.length).toBeGreaterThan(5);
  const missing = found.flatMap(([, path = '', names = '']) => {
    if (!existsSync(path)) return [path];
    const text = readFileSync(path, 'utf8');
    return [...names.matchAll(/"([^"]+)"/g)].flatMap(([, name = '']) =>
      text.includes(name) ? [] : [`${path}: ${name}`],
    );
  });
  expect(missing).toEqual([]);
});

it('the pixel reads no canvas, no sound and no fonts', () => {
  const files = readdirSync('pixel/released').filter((name) => name.endsWith('.js'));
  expect(files.length).toBeGreaterThan(0);
  for (const name of files)
    expect(readFileSync(`pixel/released/${name}`, 'utf8')).not.toMatch(
      /getContext|toDataURL|toBlob|getImageData|readPixels|AudioContext|measureText|\.fonts\b/,
    );
});
