import { createHash } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import { LostPartError, type ReportKey, type ReportStore } from './store';

/** Where reports are stored. The operator sets it, so it is not subject to the address rules of webhooks. */
export interface S3Options {
  /** Without a slash at its end. */
  endpoint: string;
  region: string;
  bucket: string;
  /** Empty, or with a slash at its end. */
  prefix: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** A part has a few megabytes. */
const LIMIT_MS = 60_000;
const RETRIES = 2;
/** Of a piece that is read. While the client takes one, the next one is made ready; with whole parts that would be two of them. */
const PIECE_BYTES = 256 * 1024;

/** Keeps files as objects of a store with the protocol of S3: one object for each part, under its report. */
export function createS3Store({ endpoint, bucket, prefix, ...credentials }: S3Options): ReportStore {
  const client = new AwsClient({ ...credentials, service: 's3', retries: RETRIES });
  const root = `${endpoint}/${encodeURIComponent(bucket)}`;
  // The ids have no slash, so that no report is in the folder of another one.
  const folderOf = ({ integrationId, reportId }: ReportKey) =>
    `${prefix}${encodeURIComponent(integrationId)}/${encodeURIComponent(reportId)}/`;
  const pathOf = (key: string) => `/${key.split('/').map(encodeURIComponent).join('/')}`;

  /** Sends a request. Rejects, in words that name no secret, unless the store accepts it. */
  async function send(method: string, path: string, init: { body?: Buffer; headers?: Record<string, string> } = {}) {
    // A store that redirects has another region or address than the settings say.
    const signal = AbortSignal.timeout(LIMIT_MS);
    const options = { method, ...init, signal, redirect: 'manual', cache: 'no-store' } as const;
    const response = await client.fetch(`${root}${path}`, options as RequestInit);
    if (response.ok) return response;
    const code = /<Code>([^<]{1,100})<\/Code>/.exec(await response.text())?.[1] ?? 'no code';
    const message = `the store of reports answered ${response.status} (${code}) to ${method}`;
    throw code === 'NoSuchKey' ? new LostPartError(message) : new Error(message);
  }

  const removeObject = (key: string) => send('DELETE', pathOf(key));

  async function listObjects(folder: string): Promise<string[]> {
    const response = await send('GET', `?list-type=2&prefix=${encodeURIComponent(folder)}`);
    return [...(await response.text()).matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, key]) => key!);
  }

  return {
    async write(report, part, content) {
      const hash = createHash('sha256').update(content).digest('hex');
      const headers = { 'content-type': 'application/octet-stream', 'x-amz-content-sha256': hash };
      await send('PUT', pathOf(folderOf(report) + part), { body: content, headers });
    },
    async *read(report, { key, size }) {
      // Read at once, because the client may be slower than the store waits. A part is a few megabytes.
      const response = await send('GET', pathOf(folderOf(report) + key));
      const content = new Uint8Array(await response.arrayBuffer());
      if (content.length !== size) throw new LostPartError('the store of reports answered a part of another length');
      for (let at = 0; at < content.length; at += PIECE_BYTES) yield content.subarray(at, at + PIECE_BYTES);
    },
    async remove(report, part) {
      const folder = folderOf(report);
      if (part !== undefined) return void (await removeObject(folder + part));
      // A list has at most 1,000 objects, and what is removed is in no later one.
      for (let keys = await listObjects(folder); keys.length > 0; keys = await listObjects(folder))
        for (const key of keys) await removeObject(key);
    },
  };
}
