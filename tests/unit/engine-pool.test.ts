import { afterEach, expect, it } from 'vitest';
import { openPool } from '../../inngest/embedded/pool';

let pool: ReturnType<typeof openPool>;
afterEach(() => pool.end());

it.each([
  ['', false],
  ['?sslmode=disable', false],
  ['?sslmode=require', { rejectUnauthorized: false }],
  ['?sslmode=verify-full', { rejectUnauthorized: true }],
  ['?ssl=true&application_name=x', { rejectUnauthorized: true }],
])('the engine reads TLS out of an address with %j as the other connections do', (query, ssl) => {
  pool = openPool(`postgres://user:pass@db.example/app${query}`, 1);
  expect(pool.options.ssl).toEqual(ssl);
  expect(pool.options.connectionString).not.toContain('ssl');
});
