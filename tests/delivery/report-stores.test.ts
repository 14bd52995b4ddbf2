import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createS3Store } from '../../server/reports/stores/s3-store';
import { eventually } from '../support/eventually';
import { correlated, started } from '../support/facts';
import { type ObjectStore, STORE_KEYS, startObjectStore } from '../support/object-store';
import { waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';
import { createCaller } from '../support/staff';

// Reports in a store with the protocol of S3.

let objects: ObjectStore;
let server: TestServer;
let tenant: { id: string; key: string };
const SECRET = STORE_KEYS.secretAccessKey;

beforeAll(async () => {
  objects = await startObjectStore();
  server = await startTestServer({
    REPORT_STORE: 's3://bucket/our/reports',
    REPORT_S3_ENDPOINT: objects.url,
    REPORT_S3_REGION: 'eu-central-1',
    REPORT_S3_ACCESS_KEY_ID: STORE_KEYS.accessKeyId,
    REPORT_S3_SECRET_ACCESS_KEY: SECRET,
  });
  tenant = await server.createTenant();
});
afterAll(async () => {
  await server.stop();
  await objects.stop();
});
beforeEach(() => {
  objects.interfere = () => null;
  objects.requests.length = 0;
});

const REPORT = { integrationId: 'int_1', reportId: 'rep/1 é' };
const open = (fields: object = {}) =>
  createS3Store({
    ...{ ...STORE_KEYS, endpoint: objects.url, region: 'eu-central-1', bucket: 'bucket', prefix: 'x/' },
    ...fields,
  });
const read = async (store: ReturnType<typeof open>, key: string, size: number) => {
  const pieces: Uint8Array[] = [];
  for await (const piece of store.read(REPORT, { key, size })) pieces.push(piece);
  return Buffer.concat(pieces).toString();
};

async function make() {
  const staff = await createCaller(server, tenant.key);
  const { id } = await staff.reports.request({ template: 'weekly-overview', format: 'csv' });
  await waitUntil(async () => (await staff.reports.list({})).data.some((report) => report.id === id));
  return { id, staff };
}

describe('a report in a store of objects', () => {
  it('is written, downloaded and removed there, and leaves nothing in Postgres', async () => {
    const { id, staff } = await make();
    const keys = [...objects.objects.keys()];
    expect(keys).toEqual([expect.stringMatching(new RegExp(`^our/reports/${tenant.id}/${id}/0000-[\\da-f-]{36}$`))]);
    expect(await server.database.db.sql`select 1 from report_chunks`).toHaveLength(0);
    const file = await server.call('GET', `/reports/${id}/download`, { key: tenant.key });
    expect([file.status, file.text]).toEqual([200, expect.stringContaining('day,sessionCount')]);
    await staff.reports.delete({ id });
    expect(objects.objects.size).toBe(0);
  });

  it('that expired is removed there, also if the store was away the first time', async () => {
    const { id } = await make();
    const { sql } = server.database.db;
    await sql`update report_jobs set expires_at = now() - interval '1 ms' where id = ${id}`;
    objects.interfere = () => ({ status: 403 });
    expect(await server.service.reports.jobs.pruneReports()).toBe(0);
    expect(await sql`select 1 from report_jobs where id = ${id}`).toHaveLength(1);
    objects.interfere = () => null;
    expect(await server.service.reports.jobs.pruneReports()).toBe(1);
    expect(objects.objects.size).toBe(0);
    expect(await sql`select 1 from report_jobs where id = ${id}`).toHaveLength(0);
  });

  it('that is deleted while the store is away is gone for everybody, and its file goes later', async () => {
    const { id, staff } = await make();
    objects.interfere = () => ({ status: 403 });
    expect(await staff.reports.delete({ id })).toEqual({ id });
    expect((await staff.reports.list({})).data.map((report) => report.id)).not.toContain(id);
    expect((await server.call('GET', `/reports/${id}/download`, { key: tenant.key })).status).toBe(404);
    objects.interfere = () => null;
    await server.service.reports.jobs.pruneReports();
    expect(objects.objects.size).toBe(0);
    expect(await server.database.db.sql`select 1 from report_jobs where id = ${id}`).toHaveLength(0);
  });

  it('that expired and cannot be removed does not stand in the way of others', async () => {
    const { id } = await make();
    const { sql } = server.database.db;
    await sql`
      insert into report_jobs (integration_id, id, template, name, format, parameters, state, store, start_at, end_at, expires_at)
      select integration_id, 'rep_stuck_' || n, template, name, format, parameters, 'Ready', 's3', start_at, end_at, now() - interval '1 day'
        from report_jobs, generate_series(1, 100) n where id = ${id}`;
    await sql`update report_jobs set expires_at = now() - interval '1 ms' where id = ${id}`;
    let refused = 0;
    objects.interfere = () => (refused++ < 100 ? { status: 403 } : null);
    await server.service.reports.jobs.pruneReports();
    objects.interfere = () => null;
    expect(await sql`select 1 from report_jobs where id = ${id}`).toHaveLength(0);
    await server.service.reports.jobs.pruneReports();
    expect(await sql`select 1 from report_jobs where id like 'rep_stuck_%'`).toHaveLength(0);
  });

  it('stays known while the store is not configured, so that its file can be removed later', async () => {
    const { id } = await make();
    const other = await startTestServer({}, server);
    const answer = await other.call('GET', `/reports/${id}/download`, { key: tenant.key });
    expect([answer.status, answer.body.error.message]).toEqual([503, 'The store of this report is not configured']);
    const caller = await createCaller(other, tenant.key);
    await caller.reports.delete({ id });
    await other.service.reports.jobs.pruneReports();
    expect((await other.call('GET', `/reports/${id}/download`, { key: tenant.key })).status).toBe(404);
    expect(objects.objects.size).toBe(1);
    await server.service.reports.jobs.pruneReports();
    expect(objects.objects.size).toBe(0);
    await other.stop();
  });

  it('whose file is gone from there goes with a user whom it may name, and does not stop the erasure', async () => {
    await server.ingest(tenant.id, [started('s-1'), correlated('s-1', 'ada-1815')]);
    const { id } = await make();
    objects.objects.clear();
    const { body } = await server.call('DELETE', '/v1/users/ada-1815', { key: tenant.key });
    await eventually(async () => {
      const { data } = (await server.call('GET', `/v1/user-erasures/${body.data.id}`, { key: tenant.key })).body;
      expect(data).toMatchObject({ status: 'Completed', reportCount: 1 });
    });
    expect(await server.database.db.sql`select 1 from report_jobs where id = ${id}`).toHaveLength(0);
  });

  it('is 503 if it cannot be read, or not as it was written', async () => {
    const { id, staff } = await make();
    const [[key, content]] = [...objects.objects] as [[string, Buffer]];
    const expectUnavailable = async () => {
      const answer = await server.call('GET', `/reports/${id}/download`, { key: tenant.key });
      expect([answer.status, answer.body.error.message]).toEqual([503, 'The file cannot be read now']);
    };
    objects.objects.set(key, content.subarray(1));
    await expectUnavailable();
    objects.objects.delete(key);
    await expectUnavailable();
    objects.interfere = () => ({ status: 500 });
    await expectUnavailable();
    objects.interfere = () => null;
    await staff.reports.delete({ id });
  });
});

describe('the store', () => {
  it('keeps the bytes of each part under any name, and removes one or all of them', async () => {
    const store = open();
    for (const part of ['a', 'b', 'c', 'd', 'e']) await store.write(REPORT, part, Buffer.from(`part ${part} \0 é`));
    await store.write({ ...REPORT, reportId: 'rep/1 éa' }, 'a', Buffer.from('other'));
    expect(await read(store, 'b', 11)).toBe('part b \0 é');
    await store.remove(REPORT, 'b');
    await expect(read(store, 'b', 11)).rejects.toThrow('the store of reports answered 404 (NoSuchKey) to GET');
    // More than a list has.
    await store.remove(REPORT);
    await store.remove(REPORT);
    expect([...objects.objects.keys()].filter((key) => key.startsWith('x/'))).toHaveLength(1);
    objects.objects.clear();
  });

  it('gives a part in pieces, so that what is sent is not held twice', async () => {
    const store = open();
    await store.write(REPORT, 'large', Buffer.alloc(600 * 1024, 'abc'));
    const pieces: Uint8Array[] = [];
    for await (const piece of store.read(REPORT, { key: 'large', size: 600 * 1024 })) pieces.push(piece);
    expect(pieces.map(({ length }) => length / 1024)).toEqual([256, 256, 88]);
    expect(Buffer.concat(pieces)).toEqual(Buffer.alloc(600 * 1024, 'abc'));
    objects.objects.clear();
  });

  it('is asked again if it has a fault', async () => {
    let faults = 2;
    objects.interfere = () => (faults-- > 0 ? { status: 503 } : null);
    await open().write(REPORT, 'a', Buffer.from('x'));
    expect(objects.requests).toHaveLength(3);
    faults = 3;
    await expect(open().write(REPORT, 'a', Buffer.from('x'))).rejects.toThrow('answered 503 (no code) to PUT');
    objects.objects.clear();
  });

  it.each<[name: string, fields: object, words: string]>([
    ['with a wrong secret', { secretAccessKey: 'wrong' }, '403 (SignatureDoesNotMatch) to PUT'],
    ['with another region', { region: 'us-east-1' }, '403 (SignatureDoesNotMatch) to PUT'],
    ['without the bucket', { bucket: 'other' }, '404 (NoSuchBucket) to PUT'],
  ])('%s says so, and never the secret', async (_name, fields, words) => {
    const error = await open(fields)
      .write(REPORT, 'a', Buffer.from('x'))
      .catch((cause: Error) => cause);
    expect(String(error)).toContain(words);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(SECRET);
  });

  it('is not followed to another address', async () => {
    objects.interfere = () => ({ status: 307, headers: { location: 'http://127.0.0.1:9/' } });
    await expect(open().write(REPORT, 'a', Buffer.from('x'))).rejects.toThrow('answered 307');
  });
});
