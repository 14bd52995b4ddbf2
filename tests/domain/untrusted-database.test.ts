import postgres from 'postgres';
import { expect, it } from 'vitest';
import { isUnavailable } from '../../db/client';
import { openSocket } from '../../db/postgres-internals';
import { readCertificate, startSecuredDatabase } from '../support/secured-database';

it.each([
  ['has expired', { cert: 'expired.pem', key: 'receiver.key' }, 'CERT_HAS_EXPIRED'],
  ['is not valid yet', { cert: 'early.pem', key: 'receiver.key' }, 'CERT_NOT_YET_VALID'],
  ['is for another host', { cert: 'receiver.pem', key: 'receiver.key' }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['is signed by itself', { cert: 'self-signed.pem', key: 'self-signed.key' }, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['is missing, because Postgres has no TLS any more', null, 'ERR_SSL_WRONG_VERSION_NUMBER'],
])('a database whose certificate %s is unavailable', async (_what, shown, code) => {
  const server = await startSecuredDatabase(shown);
  const ssl = { ca: readCertificate('authority.pem') };
  const sql = postgres(server.url, { max: 1, ssl, socket: openSocket(server.url, new Set()) } as object);
  const error = await sql.unsafe('select 1').catch((thrown) => thrown);
  expect([error.code, isUnavailable(error)]).toEqual([code, true]);
  await sql.end({ timeout: 0 });
  server.stop();
});

it('a database whose certificate an unknown authority has signed is unavailable', async () => {
  const server = await startSecuredDatabase({ cert: 'receiver.pem', key: 'receiver.key' });
  const sql = postgres(`${server.url}?sslmode=verify-full`, {
    max: 1,
    socket: openSocket(server.url, new Set()),
  } as object);
  const error = await sql.unsafe('select 1').catch((thrown) => thrown);
  expect([error.code, isUnavailable(error)]).toEqual(['UNABLE_TO_VERIFY_LEAF_SIGNATURE', true]);
  await sql.end({ timeout: 0 });
  server.stop();
});
