import { expect } from 'vitest';

/** Pages that anyone may request, and their status for a client without a session. */
export const OPEN_PAGES: [path: string, status: number][] = [
  ['/', 200],
  ['/sign-in', 200],
  ['/invitation', 200],
  ['/docs', 307],
  ['/docs/quickstart', 200],
  ['/docs/findings', 307],
  ['/docs/operating', 404],
  ['/dashboard', 307],
  ['/dashboard/int_1/sessions', 307],
  ['/nothing', 404],
  ['/api/nothing', 404],
  ['/api/trpc/no/such', 404],
];

/**
 * Requests a page three times. Each answer must have the headers of pages and a new nonce, which is on every script.
 */
export async function expectPageHeaders(url: string, path: string, status: number): Promise<Headers[]> {
  const nonces = new Set<string>();
  const seen: Headers[] = [];
  for (let n = 0; n < 3; n++) {
    const answer = await fetch(url + path, { redirect: 'manual' });
    expect(answer.status).toBe(status);
    const { headers } = answer;
    seen.push(headers);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('same-origin');
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(headers.get('permissions-policy')).toContain('camera=()');
    const policy = headers.get('content-security-policy') ?? '';
    const [, nonce = ''] = /'nonce-([A-Za-z0-9+/=]{24})'/.exec(policy) ?? [];
    nonces.add(nonce);
    const directives = Object.fromEntries(policy.split('; ').map((directive) => directive.split(/ (.*)/)));
    expect(directives).toEqual({
      'default-src': "'none'",
      'base-uri': "'none'",
      'frame-ancestors': "'none'",
      'object-src': "'none'",
      'script-src': `'self' 'nonce-${nonce}' 'strict-dynamic'`,
      'style-src': `'self' 'nonce-${nonce}'`,
      'style-src-attr': "'unsafe-inline'",
      'img-src': "'self' data:",
      'font-src': "'self'",
      'connect-src': "'self'",
      'manifest-src': "'self'",
      'form-action': "'self'",
    });
    const html = await answer.text();
    const scripts = [...html.matchAll(/<script\b([^>]*)>/g)].map(([, attributes]) => attributes!);
    expect(scripts.filter((attributes) => !attributes.includes(`nonce="${nonce}"`))).toEqual([]);
    if (status === 200) expect(scripts.length).toBeGreaterThan(3);
    expect(html).not.toMatch(/<style\b/);
  }
  expect(nonces.size).toBe(3);
  return seen;
}

/** Checks that the files of a page, and a file that does not exist, have the right content type. */
export async function expectFileHeaders(url: string): Promise<void> {
  const html = await (await fetch(url)).text();
  const [, file = ''] = /src="(\/_next\/static\/[^"]+\.js)"/.exec(html) ?? [];
  for (const [path, status] of [
    [file, 200],
    ['/_next/static/none.js', 404],
  ] as const) {
    const answer = await fetch(url + path);
    expect([path, answer.status, answer.headers.get('x-content-type-options')]).toEqual([path, status, 'nosniff']);
  }
}
