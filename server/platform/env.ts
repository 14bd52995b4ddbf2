import { z } from 'zod';
import { REGIONS, type Region } from '../../contract/integrations';
import { TIERS, type Tier } from '../../contract/tiers';
import {
  agentOrigins,
  allowHosts,
  appSecret,
  calledUrl,
  databaseUrl,
  duration,
  endpoint,
  flag,
  integer,
  pipelineToken,
  publicUrl,
  quota,
  reportStore,
  retryDelays,
} from './setting-values';

/** The settings, each with what an operator needs to know about it. `docs/settings.md` is generated from this table. */
export const settingsSchema = z.object({
  PORT: integer(0, 65_535).prefault('3000').describe('Where to listen; 0 takes a free port.'),
  HOST: z
    .string()
    .default('127.0.0.1')
    .describe('The address to listen on; `0.0.0.0` behind a proxy on another machine.'),
  DATABASE_URL: databaseUrl
    .optional()
    .describe('`postgres://…`; `APP_SECRET` is then required. Unset: embedded Postgres.'),
  DATABASE_DIRECT_URL: databaseUrl
    .optional()
    .describe(
      'The address past a pooler, for migrations, the embedded engine and the connection that shows that a process lives. Unset: `DATABASE_URL`.',
    ),
  DATABASE_POOL_MAX: integer(1, 1_000)
    .prefault('5')
    .describe('Connections in the pool of a process. Look-ups have one more.'),
  DATABASE_POOLER: z
    .enum(['transaction'], { error: 'must be transaction or unset' })
    .optional()
    .describe('`transaction` behind a transaction pooler such as PgBouncer.'),
  DATA_DIR: z.string().default('.data').describe('The embedded Postgres and the generated secrets (mode 0600).'),
  REGION: z
    .enum(REGIONS, { error: 'must be us or eu' })
    .default('us')
    .describe('`us` or `eu`. A database belongs to the region of its first start; a start with the other one fails.'),
  PUBLIC_URL_US: publicUrl
    .optional()
    .describe('Public address of the region us, without a path: in the document, in links, for secure cookies.'),
  PUBLIC_URL_EU: publicUrl.optional().describe('The same for the region eu.'),
  DEMO: flag
    .optional()
    .describe(
      '`0` or `1`: load the demo integration if there is no other one, and serve `/demo` if there is. Unset: 1 with the embedded database.',
    ),
  APP_SECRET: appSecret.optional().describe('32 bytes in base64. Unset: generated into `DATA_DIR/app-secret`.'),
  PIPELINE_TOKEN: pipelineToken
    .optional()
    .describe(
      'At least 16 characters of visible ASCII. Unset: generated into `DATA_DIR/pipeline-token`; with `DATABASE_URL`, facts are refused.',
    ),
  WEBHOOK_ALLOW_HOSTS: allowHosts
    .prefault('')
    .describe('For development: exact `host:port` pairs, separated by commas, that the address rules let pass.'),
  WEBHOOK_ALLOW_HOSTS_IN_PRODUCTION: flag
    .prefault('0')
    .describe('`1` permits `WEBHOOK_ALLOW_HOSTS` under a `PUBLIC_URL_*` or on Vercel.'),
  WEBHOOK_RETRY_DELAYS: retryDelays
    .prefault('0s,1m,5m,30m,2h,8h')
    .describe('Six durations: the pause before each attempt.'),
  WEBHOOK_TIMEOUT: duration
    .refine((ms) => ms >= 1, 'must be at least 1ms')
    .prefault('30s')
    .describe('For a whole attempt: DNS, TLS, headers, body.'),
  WEBHOOK_KEEP_ANSWERS: flag
    .prefault('1')
    .describe(
      '`1` keeps the headers and the first 2 KiB of what receivers answer for seven days, for staff alone; `0` keeps nothing, and removes within an hour what was kept.',
    ),
  OPERATOR_WEBHOOK_URL: calledUrl
    .optional()
    .describe(
      'The address that gets a notice when webhooks fail, are disabled by failures, or deliver again. May be on the local network. Unset: no notices.',
    ),
  OPERATOR_WEBHOOK_SECRET: z
    .string()
    .min(16, 'must have at least 16 characters')
    .optional()
    .describe(
      'Required with `OPERATOR_WEBHOOK_URL`, at least 16 characters: the key of the signatures of these notices. For a library of Standard Webhooks it must be base64 (`openssl rand -base64 32`), with `whsec_` before it or without.',
    ),
  QUOTA_FREE: quota(TIERS.free.keyLimitPerMinute).describe('Requests a minute of a Bearer key of the tier.'),
  QUOTA_PRO: quota(TIERS.pro.keyLimitPerMinute).describe('The same for pro.'),
  QUOTA_ENTERPRISE: quota(TIERS.enterprise.keyLimitPerMinute).describe('The same for enterprise.'),
  QUOTA_SHARED_FREE: quota(TIERS.free.sharedLimitPerMinute).describe(
    'Requests a minute of all `x-api-key` callers of the tier together.',
  ),
  QUOTA_SHARED_PRO: quota(TIERS.pro.sharedLimitPerMinute).describe('The same for pro.'),
  QUOTA_SHARED_ENTERPRISE: quota(TIERS.enterprise.sharedLimitPerMinute).describe('The same for enterprise.'),
  SESSION_GONE: duration
    .prefault('60s')
    .describe('How long after its last page was left a session closes. Another page within this time continues it.'),
  SESSION_IDLE: duration
    .refine((ms) => ms >= 1, 'must be at least 1ms')
    .prefault('15m')
    .describe('How long after the last sign of a page a session closes.'),
  TRACE_DAYS: integer(1, 3_650)
    .prefault('30')
    .describe('How many days to keep what pages sent; never longer than the plan keeps sessions.'),
  COLLECT_NEW_PER_MINUTE: integer(1, 100_000_000)
    .prefault('6000')
    .describe('New sessions a minute from one network (/24 or /48), counted in each process.'),
  COLLECT_BATCHES_PER_MINUTE: integer(1, 100_000_000)
    .prefault('60')
    .describe('Batches a minute of one session, counted in each process.'),
  REPORT_STORE: reportStore
    .optional()
    .describe(
      'Where the files of reports are kept: `s3://bucket/folder`, in a store with the protocol of S3. Unset: in Postgres.',
    ),
  REPORT_S3_ENDPOINT: endpoint
    .optional()
    .describe('The address of that store, if it is not AWS. Unset: that of AWS in `REPORT_S3_REGION`.'),
  REPORT_S3_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, 'must be the name of a region')
    .default('us-east-1')
    .describe('The region of the bucket. It should be in the jurisdiction of `REGION`.'),
  REPORT_S3_ACCESS_KEY_ID: z
    .string()
    .optional()
    .describe('Required with `REPORT_STORE`. It needs to get, put, delete and list objects.'),
  REPORT_S3_SECRET_ACCESS_KEY: z.string().optional().describe('Required with `REPORT_STORE`.'),
  GEOIP_DATABASE: z
    .string()
    .optional()
    .describe(
      'A file in the mmdb format with the countries of addresses, perhaps with their coordinates. Unset: only platforms tell them.',
    ),
  ASN_DATABASE: z
    .string()
    .optional()
    .describe(
      'A file in the mmdb format that names the networks (autonomous systems) of addresses, for the rule `datacenter-network`. Unset: the rule measures nothing.',
    ),
  SIGNATURE_AGENTS: agentOrigins
    .prefault('https://chatgpt.com')
    .describe(
      'Agents whose signed requests are verified (Web Bot Auth): the origins that publish their keys, separated by commas; `none` for none. Keys are fetched when a request names the agent.',
    ),
  INNGEST_BASE_URL: calledUrl
    .optional()
    .describe('A self-hosted Inngest server. Any non-empty `INNGEST_*` setting replaces the embedded engine.'),
  INNGEST_EVENT_KEY: z.string().optional().describe('As Inngest defines it.'),
  INNGEST_SIGNING_KEY: z.string().optional().describe('As Inngest defines it.'),
  INNGEST_DEV: z
    .string()
    .optional()
    .describe('Inngest’s development mode: signatures are not checked. Never in production.'),
  INNGEST_SERVE_ORIGIN: publicUrl
    .optional()
    .describe(
      'Where Inngest reaches this service, without a path. Unset: at `PUBLIC_URL_*` of the region if it is Inngest Cloud, at `HOST` and `PORT` if it is your own. Not needed on Vercel.',
    ),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
      error: 'must be fatal, error, warn, info, debug, trace or silent',
    })
    .default('info')
    .describe('`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`.'),
  LOG_FORMAT: z
    .enum(['json', 'pretty'], { error: 'must be json or pretty' })
    .optional()
    .describe('`json` or `pretty`. Unset: `pretty` on a terminal, else `json`.'),
  METRICS_PORT: integer(0, 65_535)
    .optional()
    .describe('Private port of `npm start` for `GET /metrics`; 0 takes a free one. Unset: none.'),
  METRICS_HOST: z.string().default('127.0.0.1').describe('The address that the private port listens on.'),
  VERCEL: z.string().optional().describe('Vercel sets it to 1.'),
  VERCEL_REGION: z.string().optional().describe('Vercel sets it. Every request fails if it does not fit `REGION`.'),
});

/** The names of all settings. */
export const SETTING_NAMES = Object.keys(settingsSchema.shape);

/**
 * The Vercel regions allowed for each of our regions. Data of one must not pass through the other, and new Vercel
 * projects run in iad1.
 */
const VERCEL_REGIONS: Record<Region, string[]> = {
  us: ['iad1', 'cle1', 'pdx1', 'sfo1'],
  eu: ['fra1', 'dub1', 'cdg1', 'arn1'],
};

type Settings = z.output<typeof settingsSchema>;

export type Env = Settings & {
  /** Requests per minute of one Bearer key, and of a tier's shared `x-api-key` bucket. */
  quotas: Record<Tier, { key: number; shared: number }>;
  /** Whether an Inngest server runs the functions. Otherwise the embedded engine does. */
  usesInngest: boolean;
  /**
   * Whether people other than the developer can reach the process: on a serverless platform, or under a public address.
   */
  isDeployed: boolean;
  /** The public address of this region without a trailing slash; null if it is not set. */
  publicUrl: string | null;
  /** Where Inngest is told to call `/api/inngest`; null if at the address that the SDK sees. */
  serveOrigin: string | null;
};

/** An invalid setting, or a data directory on which Postgres does not start. The message is one line for the operator. */
export class SettingError extends Error {}

/**
 * Reads the settings of the process. An empty value counts as unset. Throws a SettingError that names the first invalid
 * one.
 */
export function readEnv(source: Record<string, string | undefined>): Env {
  const present = Object.fromEntries(Object.entries(source).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = settingsSchema.safeParse(present);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw new SettingError(`${String(issue.path[0])}: ${issue.message}`);
  }
  const settings = parsed.data;
  if (settings.DATABASE_URL && !settings.APP_SECRET) {
    throw new SettingError('APP_SECRET: is required with DATABASE_URL (32 bytes in base64: openssl rand -base64 32)');
  }
  if (settings.DATABASE_DIRECT_URL && !settings.DATABASE_URL)
    throw new SettingError('DATABASE_URL: is required with DATABASE_DIRECT_URL');
  const { REPORT_S3_ACCESS_KEY_ID: keyId, REPORT_S3_SECRET_ACCESS_KEY: secretKey } = settings;
  if (settings.REPORT_STORE && !keyId) throw new SettingError('REPORT_S3_ACCESS_KEY_ID: is required with REPORT_STORE');
  if (settings.REPORT_STORE && !secretKey)
    throw new SettingError('REPORT_S3_SECRET_ACCESS_KEY: is required with REPORT_STORE');
  if (settings.OPERATOR_WEBHOOK_URL && !settings.OPERATOR_WEBHOOK_SECRET)
    throw new SettingError('OPERATOR_WEBHOOK_SECRET: is required with OPERATOR_WEBHOOK_URL');
  const allowed = VERCEL_REGIONS[settings.REGION];
  if (settings.VERCEL_REGION && !allowed.includes(settings.VERCEL_REGION)) {
    throw new SettingError(
      `REGION: is ${settings.REGION}, but Vercel runs this in ${settings.VERCEL_REGION}; set the project to run in one of ${allowed.join(', ')}`,
    );
  }
  const isDeployed =
    settings.VERCEL === '1' || settings.PUBLIC_URL_US !== undefined || settings.PUBLIC_URL_EU !== undefined;
  if (settings.WEBHOOK_ALLOW_HOSTS.size > 0 && isDeployed && !settings.WEBHOOK_ALLOW_HOSTS_IN_PRODUCTION) {
    throw new SettingError(
      'WEBHOOK_ALLOW_HOSTS: is for development; with VERCEL=1 or a PUBLIC_URL_* it needs WEBHOOK_ALLOW_HOSTS_IN_PRODUCTION=1',
    );
  }
  const quotaOf = (tier: Tier) => {
    const name = tier.toUpperCase() as Uppercase<Tier>;
    return { key: settings[`QUOTA_${name}`], shared: settings[`QUOTA_SHARED_${name}`] };
  };
  const publicUrl = (settings.REGION === 'eu' ? settings.PUBLIC_URL_EU : settings.PUBLIC_URL_US) ?? null;
  const usesInngest = Object.entries(settings).some(
    ([name, value]) => name.startsWith('INNGEST_') && value !== undefined,
  );
  // On Vercel, the SDK sees the address that was asked.
  const isNearInngest = settings.INNGEST_BASE_URL !== undefined || (settings.INNGEST_DEV ?? '0') !== '0';
  const usesCloud = usesInngest && !isNearInngest && settings.VERCEL !== '1';
  return {
    ...settings,
    quotas: { free: quotaOf('free'), pro: quotaOf('pro'), enterprise: quotaOf('enterprise') },
    isDeployed,
    publicUrl,
    serveOrigin: settings.INNGEST_SERVE_ORIGIN ?? (usesCloud ? publicUrl : null),
    usesInngest,
  };
}
