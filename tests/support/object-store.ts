import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AwsV4Signer } from 'aws4fetch';

/** A store with the part of the protocol of S3 that the product uses: a real HTTP server on the loopback. */
export interface ObjectStore {
  url: string;
  objects: Map<string, Buffer>;
  /** Requests as method and path, in their order. */
  requests: string[];
  /** Answers instead of the store: a status, the code of an error, or headers. */
  interfere: (
    method: string,
    path: string,
  ) => { status: number; body?: string; headers?: Record<string, string> } | null;
  stop(): Promise<void>;
}

export const STORE_KEYS = { accessKeyId: 'STOREKEYID', secretAccessKey: 'store-secret-access-key' };
const BUCKET = '/bucket/';
/** How many keys a list has. That of AWS has 1,000. */
const LIST_LENGTH = 2;

const errorBody = (code: string) => `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`;

/** Starts an empty store with the bucket `bucket`. It checks the signature and the hash of each request. */
export async function startObjectStore(): Promise<ObjectStore> {
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    const { pathname, searchParams } = new URL(request.url!, store.url);
    const method = request.method!;
    store.requests.push(`${method} ${request.url}`);
    const answer = (status: number, content: string | Buffer = '') => void response.writeHead(status).end(content);
    const interference = store.interfere(method, pathname);
    if (interference) {
      const { status, body: content = '', headers = {} } = interference;
      return void response.writeHead(status, headers).end(content);
    }
    if (!(await isSigned(request, store.url))) return answer(403, errorBody('SignatureDoesNotMatch'));
    const hash = request.headers['x-amz-content-sha256'];
    if (method === 'PUT' && hash !== createHash('sha256').update(body).digest('hex'))
      return answer(400, errorBody('XAmzContentSHA256Mismatch'));
    const isList = searchParams.has('list-type');
    if (!`${pathname}/`.startsWith(BUCKET)) return answer(404, errorBody('NoSuchBucket'));
    if (isList) return answer(200, list(store.objects, searchParams.get('prefix') ?? ''));
    const key = decodeURIComponent(pathname.slice(BUCKET.length));
    const object = store.objects.get(key);
    if (method === 'PUT') store.objects.set(key, body);
    if (method === 'PUT') return answer(200);
    if (method === 'DELETE') store.objects.delete(key);
    if (method === 'DELETE') return answer(204);
    return object ? answer(200, object) : answer(404, errorBody('NoSuchKey'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const store: ObjectStore = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects: new Map(),
    requests: [],
    interfere: () => null,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return store;
}

function list(objects: ObjectStore['objects'], prefix: string): string {
  const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).slice(0, LIST_LENGTH);
  const contents = keys.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('');
  return `<?xml version="1.0"?><ListBucketResult>${contents}</ListBucketResult>`;
}

/** Signs what arrived again, and compares. */
async function isSigned({ method, url, headers }: IncomingMessage, own: string): Promise<boolean> {
  const signer = new AwsV4Signer({
    ...STORE_KEYS,
    method: method!,
    url: own + url!,
    headers: { 'x-amz-content-sha256': String(headers['x-amz-content-sha256']) },
    datetime: String(headers['x-amz-date']),
    service: 's3',
    region: 'eu-central-1',
  });
  const { headers: signed } = await signer.sign();
  return signed.get('authorization') === headers.authorization;
}
