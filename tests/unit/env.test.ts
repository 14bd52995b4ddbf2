import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readEnv, SettingError } from '../../server/platform/env';

const APP_SECRET = randomBytes(32).toString('base64');
const DATABASE_URL = 'postgres://user@localhost:5432/db';

/** Returns the one line that an operator sees. */
function refusalOf(settings: Record<string, string>): string {
  try {
    readEnv(settings);
  } catch (error) {
    expect(error).toBeInstanceOf(SettingError);
    return (error as Error).message;
  }
  throw new Error(`accepted: ${JSON.stringify(settings)}`);
}

describe('the defaults', () => {
  const env = readEnv({});

  it.each<[keyof typeof env, unknown]>([
    ['PORT', 3000],
    ['HOST', '127.0.0.1'],
    ['DATABASE_URL', undefined],
    ['DATABASE_DIRECT_URL', undefined],
    ['DATABASE_POOLER', undefined],
    ['DATA_DIR', '.data'],
    ['REGION', 'us'],
    ['PUBLIC_URL_US', undefined],
    ['PUBLIC_URL_EU', undefined],
    ['DEMO', undefined],
    ['APP_SECRET', undefined],
    ['PIPELINE_TOKEN', undefined],
    ['WEBHOOK_ALLOW_HOSTS', new Set()],
    ['WEBHOOK_ALLOW_HOSTS_IN_PRODUCTION', false],
    // docs/webhooks.md shows the schedule and the timeout to customers.
    ['WEBHOOK_RETRY_DELAYS', [0, 60_000, 300_000, 1_800_000, 7_200_000, 28_800_000]],
    ['WEBHOOK_TIMEOUT', 30_000],
    ['INNGEST_BASE_URL', undefined],
    ['INNGEST_EVENT_KEY', undefined],
    ['INNGEST_SIGNING_KEY', undefined],
    ['INNGEST_DEV', undefined],
    ['INNGEST_SERVE_ORIGIN', undefined],
    ['serveOrigin', null],
    ['usesInngest', false],
    ['LOG_LEVEL', 'info'],
    ['REPORT_STORE', undefined],
    ['REPORT_S3_REGION', 'us-east-1'],
  ])('%s is %j', (name, value) => {
    expect(env[name]).toEqual(value);
  });

  it('give each tier its quotas, the shared bucket ten times a key’s', () => {
    expect(env.quotas).toEqual({
      free: { key: 60, shared: 600 },
      pro: { key: 600, shared: 6_000 },
      enterprise: { key: 6_000, shared: 60_000 },
    });
  });

  it('replace empty values', () => {
    const names = ['PORT', 'REGION', 'WEBHOOK_TIMEOUT', 'WEBHOOK_RETRY_DELAYS', 'WEBHOOK_ALLOW_HOSTS', 'LOG_LEVEL'];
    const others = ['DATABASE_URL', 'APP_SECRET', 'PIPELINE_TOKEN', 'DEMO', 'QUOTA_FREE', 'PUBLIC_URL_US', 'VERCEL'];
    expect(readEnv(Object.fromEntries([...names, ...others].map((name) => [name, ''])))).toEqual(env);
  });

  it('ignore settings of other programs', () => {
    expect(readEnv({ PATH: '/bin', HOME: '/root' })).toEqual(env);
  });
});

describe('a value', () => {
  it('is accepted if it is valid', () => {
    const env = readEnv({
      PORT: '0',
      HOST: '::1',
      DATABASE_URL,
      APP_SECRET,
      REGION: 'eu',
      DEMO: '0',
      PIPELINE_TOKEN: 'a-token-that-is-long-enough',
      WEBHOOK_RETRY_DELAYS: '0s,100ms,1s,2m,3h,0ms',
      WEBHOOK_TIMEOUT: '1500ms',
      WEBHOOK_ALLOW_HOSTS: '127.0.0.1:8080, LOCALHOST:9000,[::1]:80',
      LOG_LEVEL: 'silent',
      LOG_FORMAT: 'pretty',
      DATABASE_POOL_MAX: '3',
      DATABASE_POOLER: 'transaction',
      DATABASE_DIRECT_URL: 'postgresql://user@localhost/db',
    });
    expect(env).toMatchObject({
      PORT: 0,
      HOST: '::1',
      DATABASE_URL,
      REGION: 'eu',
      DEMO: false,
      PIPELINE_TOKEN: 'a-token-that-is-long-enough',
      WEBHOOK_RETRY_DELAYS: [0, 100, 1_000, 120_000, 10_800_000, 0],
      WEBHOOK_TIMEOUT: 1_500,
      LOG_LEVEL: 'silent',
      LOG_FORMAT: 'pretty',
      DATABASE_POOL_MAX: 3,
      DATABASE_POOLER: 'transaction',
    });
    expect(env.APP_SECRET?.toString('base64')).toBe(APP_SECRET);
    expect(env.WEBHOOK_ALLOW_HOSTS).toEqual(new Set(['127.0.0.1:8080', 'localhost:9000', '[::1]:80']));
  });

  it.each(['QUOTA_FREE', 'QUOTA_PRO', 'QUOTA_ENTERPRISE'])('of %s is the quota of a key', (name) => {
    const tier = name.slice('QUOTA_'.length).toLowerCase();
    const { quotas } = readEnv({ [name]: '7' });
    expect(quotas).toEqual({ ...readEnv({}).quotas, [tier]: { ...readEnv({}).quotas[tier as 'free'], key: 7 } });
  });

  it.each(['QUOTA_SHARED_FREE', 'QUOTA_SHARED_PRO', 'QUOTA_SHARED_ENTERPRISE'])(
    'of %s is the quota of the tier’s shared bucket',
    (name) => {
      const tier = name.slice('QUOTA_SHARED_'.length).toLowerCase();
      const { quotas } = readEnv({ [name]: '7' });
      expect(quotas).toEqual({ ...readEnv({}).quotas, [tier]: { ...readEnv({}).quotas[tier as 'free'], shared: 7 } });
    },
  );

  it.each(['INNGEST_BASE_URL', 'INNGEST_EVENT_KEY', 'INNGEST_SIGNING_KEY', 'INNGEST_DEV', 'INNGEST_SERVE_ORIGIN'])(
    'of %s replaces the embedded engine',
    (name) => {
      expect(readEnv({ [name]: 'http://127.0.0.1:8288' }).usesInngest).toBe(true);
    },
  );

  it.each<[string, Record<string, string>, string | null]>([
    ['Inngest Cloud', {}, 'https://us.example'],
    ['Inngest Cloud, with production mode said', { INNGEST_DEV: '0' }, 'https://us.example'],
    ['Inngest Cloud, which sees the address by itself on Vercel', { VERCEL: '1' }, null],
    ['a server of one’s own', { INNGEST_BASE_URL: 'http://inngest:8288' }, null],
    ['a development server', { INNGEST_DEV: '1' }, null],
    [
      'any that is told otherwise',
      { INNGEST_BASE_URL: 'http://inngest:8288', INNGEST_SERVE_ORIGIN: 'http://app:3000' },
      'http://app:3000',
    ],
  ])('tell %s where to call this service', (_engine, settings, expected) => {
    const common = { PUBLIC_URL_US: 'https://us.example', PUBLIC_URL_EU: 'https://eu.example', INNGEST_EVENT_KEY: 'k' };
    expect(readEnv({ ...common, ...settings }).serveOrigin).toBe(expected);
  });

  it.each<[string, string]>([
    ['PORT', 'abc'],
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['PORT', '1e3'],
    ['PORT', ' 80'],
    ['DATABASE_URL', 'mysql://localhost/db'],
    ['DATABASE_URL', 'localhost'],
    ['DATABASE_DIRECT_URL', 'http://localhost/db'],
    ['DATABASE_POOL_MAX', '0'],
    ['DATABASE_POOL_MAX', 'many'],
    ['DATABASE_POOLER', 'session'],
    ['REGION', 'US'],
    ['REGION', 'apac'],
    ['PUBLIC_URL_US', 'api.example.com'],
    ['PUBLIC_URL_EU', 'ftp://api.example.com'],
    ['DEMO', 'yes'],
    ['DEMO', 'true'],
    ['APP_SECRET', 'short'],
    ['APP_SECRET', randomBytes(31).toString('base64')],
    ['APP_SECRET', randomBytes(33).toString('base64')],
    ['APP_SECRET', randomBytes(32).toString('hex')],
    ['PIPELINE_TOKEN', 'short'],
    // No header can say these, so every fact would be refused.
    ['PIPELINE_TOKEN', 'a token with spaces'],
    ['PIPELINE_TOKEN', 'a-token-with-an-end '],
    ['PIPELINE_TOKEN', 'schlüssel-der-pipeline'],
    ['INNGEST_BASE_URL', 'inngest'],
    ['INNGEST_BASE_URL', 'localhost:8288'],
    ['INNGEST_BASE_URL', 'http://user:secret@inngest:8288'],
    ['INNGEST_SERVE_ORIGIN', 'app:3000'],
    ['INNGEST_SERVE_ORIGIN', 'http://app:3000/api/inngest'],
    ['WEBHOOK_ALLOW_HOSTS', 'localhost'],
    ['WEBHOOK_ALLOW_HOSTS', 'http://localhost:80'],
    ['WEBHOOK_ALLOW_HOSTS', '*:80'],
    ['WEBHOOK_ALLOW_HOSTS', '127.0.0.1:8080,nonsense'],
    ['WEBHOOK_ALLOW_HOSTS_IN_PRODUCTION', 'true'],
    ['WEBHOOK_RETRY_DELAYS', '0s,1m,5m,30m,2h'],
    ['WEBHOOK_RETRY_DELAYS', '0s,1m,5m,30m,2h,8h,9h'],
    ['WEBHOOK_RETRY_DELAYS', '0s,1m,5m,30m,2h,8d'],
    ['WEBHOOK_RETRY_DELAYS', '0,60,300,1800,7200,28800'],
    ['WEBHOOK_RETRY_DELAYS', '0s,1m,,30m,2h,8h'],
    ['WEBHOOK_RETRY_DELAYS', '0s,-1m,5m,30m,2h,8h'],
    ['WEBHOOK_RETRY_DELAYS', '0s,1.5m,5m,30m,2h,8h'],
    ['WEBHOOK_TIMEOUT', '30'],
    ['WEBHOOK_TIMEOUT', '0s'],
    ['WEBHOOK_TIMEOUT', 'soon'],
    ['WEBHOOK_TIMEOUT', '-5s'],
    ['QUOTA_FREE', '0'],
    ['QUOTA_PRO', '-5'],
    ['QUOTA_ENTERPRISE', '1.5'],
    ['QUOTA_SHARED_FREE', 'none'],
    ['QUOTA_SHARED_PRO', '1e9'],
    ['QUOTA_SHARED_ENTERPRISE', ' 5'],
    ['LOG_LEVEL', 'loud'],
    ['LOG_FORMAT', 'xml'],
  ])('of %s that is invalid (%s) gives one line that begins with its name', (name, value) => {
    const message = refusalOf({ [name]: value });
    expect(message).toMatch(new RegExp(`^${name}: [^\\n]+$`));
  });

  it('of a secret never shows in the error', () => {
    expect(refusalOf({ APP_SECRET: 'hunter2' })).not.toContain('hunter2');
    expect(refusalOf({ PIPELINE_TOKEN: 'hunter2' })).not.toContain('hunter2');
    expect(refusalOf({ DATABASE_URL: 'mysql://u:hunter2@localhost/db' })).not.toContain('hunter2');
  });

  it('of several that are invalid, the first is named in one line', () => {
    expect(refusalOf({ PORT: 'x', REGION: 'y', LOG_LEVEL: 'z' })).toMatch(/^(PORT|REGION|LOG_LEVEL): [^\n]+$/);
  });
});

describe('APP_SECRET', () => {
  it('is required with DATABASE_URL', () => {
    expect(refusalOf({ DATABASE_URL })).toMatch(/^APP_SECRET: [^\n]+$/);
    expect(refusalOf({ DATABASE_URL, APP_SECRET: '' })).toMatch(/^APP_SECRET: [^\n]+$/);
    expect(readEnv({ DATABASE_URL, APP_SECRET }).DATABASE_URL).toBe(DATABASE_URL);
  });
});

it('DATABASE_URL is required with DATABASE_DIRECT_URL: the engine would use that one, and all else the embedded database', () => {
  expect(refusalOf({ DATABASE_DIRECT_URL: DATABASE_URL })).toBe('DATABASE_URL: is required with DATABASE_DIRECT_URL');
  expect(refusalOf({ DATABASE_DIRECT_URL: DATABASE_URL, DATABASE_URL: '' })).toMatch(/^DATABASE_URL: /);
});

describe('WEBHOOK_ALLOW_HOSTS', () => {
  const WEBHOOK_ALLOW_HOSTS = '127.0.0.1:8080';

  it.each<Record<string, string>>([
    { VERCEL: '1' },
    { PUBLIC_URL_US: 'https://us.example.com' },
    { PUBLIC_URL_EU: 'https://eu.example.com' },
  ])('is refused with %j, unless WEBHOOK_ALLOW_HOSTS_IN_PRODUCTION is 1', (deployed) => {
    expect(refusalOf({ WEBHOOK_ALLOW_HOSTS, ...deployed })).toMatch(/^WEBHOOK_ALLOW_HOSTS: [^\n]+$/);
    expect(refusalOf({ WEBHOOK_ALLOW_HOSTS, ...deployed, WEBHOOK_ALLOW_HOSTS_IN_PRODUCTION: '0' })).toMatch(
      /^WEBHOOK_ALLOW_HOSTS: [^\n]+$/,
    );
    const env = readEnv({ WEBHOOK_ALLOW_HOSTS, ...deployed, WEBHOOK_ALLOW_HOSTS_IN_PRODUCTION: '1' });
    expect(env.WEBHOOK_ALLOW_HOSTS).toEqual(new Set([WEBHOOK_ALLOW_HOSTS]));
    expect(readEnv(deployed).WEBHOOK_ALLOW_HOSTS.size).toBe(0);
  });

  it('is accepted in development', () => {
    expect(readEnv({ WEBHOOK_ALLOW_HOSTS }).WEBHOOK_ALLOW_HOSTS.size).toBe(1);
    expect(readEnv({ WEBHOOK_ALLOW_HOSTS, VERCEL: '0' }).WEBHOOK_ALLOW_HOSTS.size).toBe(1);
  });
});

it.each(['DATABASE_URL', 'DATABASE_DIRECT_URL'])(
  '%s must name a host, because the driver reads no IPv6 address',
  (name) => {
    const settings = { APP_SECRET, DATABASE_URL, [name]: 'postgres://user@[::1]:5432/db' };
    expect(refusalOf(settings)).toBe(`${name}: must name a host, not an IPv6 address`);
  },
);

it.each(['?host=/tmp', '?host=db.example', '?hostaddr=192.0.2.1', '%2Ftmp/app', '%2ftmp/app'])(
  'the address of a database may not name its host as in %j, which the driver reads otherwise',
  (rest) => {
    for (const name of ['DATABASE_URL', 'DATABASE_DIRECT_URL']) {
      const url = rest.startsWith('?') ? `postgres:///app${rest}` : `postgres://${rest}`;
      expect(refusalOf({ APP_SECRET, DATABASE_URL, [name]: url })).toBe(
        `${name}: must name a host before its path, and no directory of a socket`,
      );
    }
  },
);

it.each(['DATABASE_URL', 'DATABASE_DIRECT_URL'])('%s says how to write a password with a percent sign', (name) => {
  const read = (url: string) => readEnv({ APP_SECRET, DATABASE_URL, [name]: url });
  for (const account of ['user:hunter2%', 'user:50%hunter2', 'us%er:hunter2'])
    expect(() => read(`postgres://${account}@localhost/db`)).toThrow(
      new SettingError(`${name}: must have each % of its user name and password as %25`),
    );
  expect(read('postgres://us%25er:hunter2%25@localhost/db')).toBeDefined();
});

it.each([
  ['?sslmode=require&channel_binding=prefer', '?sslmode=require'],
  ['?channel_binding=disable&gssencmode=disable', ''],
  ['?gssencmode=prefer&keepalives=1&keepalives_idle=30&keepalives_interval=5&keepalives_count=3', ''],
  ['?target_session_attrs=any&application_name=a%20b', '?application_name=a+b'],
  // Nobody may answer in the server's place: its certificate is checked, whatever else the address says.
  ['?sslmode=require&channel_binding=require', '?sslmode=verify-full'],
  ['?channel_binding=require&sslmode=disable', '?sslmode=verify-full'],
  ['?channel_binding=require&channel_binding=prefer', '?sslmode=verify-full'],
  ['?sslrootcert=system', '?sslmode=verify-full'],
  // Postgres refuses what nobody knows, and what we cannot keep.
  ...['?gssencmode=require', '?sslrootcert=/ca.pem', '?channel_binding=on', '?options=-c%20a%3Db'].map((q) => [q, q]),
])('the parameters %j of an address of a database are read as %j', (given, read) => {
  const env = readEnv({
    APP_SECRET,
    DATABASE_URL: `postgres://us%25er:a%2Fb@a.example,b.example/db${given}`,
    DATABASE_DIRECT_URL: `${DATABASE_URL}${given}`,
  });
  expect(env.DATABASE_URL).toBe(`postgres://us%25er:a%2Fb@a.example,b.example/db${read}`);
  expect(env.DATABASE_DIRECT_URL).toBe(`${DATABASE_URL}${read}`);
});

describe('PUBLIC_URL_US and PUBLIC_URL_EU', () => {
  it('are kept without a trailing slash', () => {
    expect(
      readEnv({ PUBLIC_URL_US: 'https://us.example.com/', PUBLIC_URL_EU: 'https://eu.example.com' }),
    ).toMatchObject({
      PUBLIC_URL_US: 'https://us.example.com',
      PUBLIC_URL_EU: 'https://eu.example.com',
    });
  });

  it('are kept as browsers name an origin', () => {
    expect(readEnv({ PUBLIC_URL_US: 'https://US.Example.com:443//' }).publicUrl).toBe('https://us.example.com');
    expect(readEnv({ PUBLIC_URL_US: 'http://10.0.0.5:3000' }).publicUrl).toBe('http://10.0.0.5:3000');
  });

  it.each([
    'https://us.example.com/bots',
    'https://us.example.com/?region=us',
    'https://us.example.com?',
    'https://us.example.com/#dashboard',
    'https://ada:hunter2@us.example.com',
  ])('of %s is refused: links would be broken, or the API document would show a password', (url) => {
    const message = refusalOf({ PUBLIC_URL_US: url });
    expect(message).toBe('PUBLIC_URL_US: must be an http or https address without a path');
  });
});

describe('the store of reports', () => {
  const KEYS = { REPORT_S3_ACCESS_KEY_ID: 'id', REPORT_S3_SECRET_ACCESS_KEY: 'secret words' };

  it.each([
    ['s3://bucket', { bucket: 'bucket', prefix: '' }],
    ['s3://my.bucket-1/', { bucket: 'my.bucket-1', prefix: '' }],
    ['s3://bucket/reports', { bucket: 'bucket', prefix: 'reports/' }],
    ['s3://bucket/a/b.c_d-e/', { bucket: 'bucket', prefix: 'a/b.c_d-e/' }],
  ])('%s is a bucket and a folder', (REPORT_STORE, read) => {
    expect(readEnv({ REPORT_STORE, ...KEYS }).REPORT_STORE).toEqual(read);
  });

  it.each([
    'bucket',
    's3:bucket',
    's3://',
    's3://B',
    's3://a',
    's3://bucket//x',
    's3://bucket/a b',
    's3://bucket/?x',
    's3://bucket/..',
    's3://bucket/a/./b',
    's3://...',
    'https://x/y',
  ])('%s is refused', (REPORT_STORE) => {
    expect(refusalOf({ REPORT_STORE, ...KEYS })).toBe('REPORT_STORE: must be s3://bucket or s3://bucket/folder');
  });

  it('needs its keys, and no refusal shows them', () => {
    const REPORT_STORE = 's3://bucket';
    expect(refusalOf({ REPORT_STORE })).toBe('REPORT_S3_ACCESS_KEY_ID: is required with REPORT_STORE');
    expect(refusalOf({ REPORT_STORE, REPORT_S3_ACCESS_KEY_ID: 'id' })).toBe(
      'REPORT_S3_SECRET_ACCESS_KEY: is required with REPORT_STORE',
    );
    expect(refusalOf({ REPORT_STORE, ...KEYS, REPORT_S3_ENDPOINT: 'secret words' })).not.toContain('secret');
    for (const REPORT_S3_ENDPOINT of ['http://minio:secret@127.0.0.1:9000', 'http://minio/?a', 'http://minio/#a'])
      expect(refusalOf({ REPORT_STORE, ...KEYS, REPORT_S3_ENDPOINT })).toBe(
        'REPORT_S3_ENDPOINT: must be an http or https address without user name, query and fragment',
      );
    expect(refusalOf({ REPORT_STORE, ...KEYS, REPORT_S3_REGION: 'secret words' })).not.toContain('secret');
  });
});
