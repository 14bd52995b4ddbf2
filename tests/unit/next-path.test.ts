import { expect, it } from 'vitest';
import { readNextPath } from '../../app/sign-in/next-path';

it.each([
  ['/dashboard', '/dashboard'],
  ['/dashboard?a=b', '/dashboard?a=b'],
  ['/dashboard/int_1/sessions?riskLevel=bot#x', '/dashboard/int_1/sessions?riskLevel=bot#x'],
  ['/dashboard/a%20b/overview', '/dashboard/a%20b/overview'],
  ['/docs/findings#the-rules', '/docs/findings#the-rules'],
  ['/dashboard/ü', '/dashboard/%C3%BC'],
  ['/dashboard/\u2028', '/dashboard/%E2%80%A8'],
  ['/dashboard?a=\u2029', '/dashboard?a=%E2%80%A9'],
  ['/dashboard/\ud800', '/dashboard/%EF%BF%BD'],
  ['/dashboard/\r\nSet-Cookie:x', '/dashboard/Set-Cookie:x'],
])('%j leads to %j', (next, path) => {
  expect(readNextPath(next)).toBe(path);
  // A header takes it.
  expect(new Headers({ location: readNextPath(next) }).get('location')).toBe(path);
});

it.each([
  undefined,
  '',
  ['/dashboard', '/dashboard'],
  '/dashboards',
  '/docs',
  '/docs/../api/auth/sign-out',
  '/dashboard/../swagger',
  '/\t/evil.example/dashboard',
  '//evil.example/dashboard',
  '/\\evil.example/dashboard',
  'https://evil.example/dashboard',
  'javascript:alert(1)//dashboard',
  'http://[',
])('%j leads to the start page', (next) => {
  expect(readNextPath(next)).toBe('/dashboard');
});
