import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type postgres from 'postgres';
import { openProductBench, runOperator } from '../bench/product-bench';
import { endProducts } from '../support/product';
import { findPackageFile } from './driving/packages';
import { endLeftovers } from './leftovers';
import { type OpenVisit, type PageServer, startPages } from './pages/serve';
import type { Recording } from './recordings';
import { openScreen } from './screen';
import type { Subject, Task } from './subject';

/** A session closes soon after its last page is gone, or if its page could not say so. */
export const STAGE_SETTINGS = { SESSION_GONE: '2s', SESSION_IDLE: '20s', COLLECT_NEW_PER_MINUTE: '1000' };
const VISIT_LIMIT_MS = 240_000;
const CLOSE_LIMIT_MS = 45_000;
const LOOK_MS = 500;

/** A running product that the laboratory may look into. */
export interface Host {
  url: string;
  sql: postgres.Sql;
  /** Allows pages of the origin to send what they see. Answers their site key. */
  createSite(origin: string): Promise<string>;
}

/** The product, and pages with its tag. */
export interface Stage {
  pages: PageServer;
  sql: postgres.Sql;
}

/** Serves pages with the tag of a running product. */
export async function openPages({ url, sql, createSite }: Host): Promise<Stage> {
  const tag = { host: url, siteKey: '' };
  const pages = await startPages(() => tag, readBotd());
  tag.siteKey = await createSite(pages.origin);
  return { pages, sql };
}

/** Starts the product as deployed, on new data, and pages with its tag. */
export async function openStage(): Promise<Stage & { close(): Promise<void> }> {
  const { product, sql, dataDir, createTenant, close } = await openProductBench(STAGE_SETTINGS);
  const stage = await openPages({
    ...{ url: product.url, sql },
    async createSite(origin) {
      const { id } = await createTenant('Laboratory');
      await runOperator(dataDir, 'integration', 'set-origins', '--integration', id, '--origin', origin);
      return (await runOperator(dataDir, 'site', 'create', '--integration', id)).siteKey;
    },
  });
  return {
    ...stage,
    async close() {
      await stage.pages.close();
      await close();
      await endProducts();
    },
  };
}

/** Reads BotD's module. Null if it is not installed. */
export function readBotd(): Buffer | null {
  const path = findPackageFile('@fingerprintjs/botd', 'dist/botd.esm.js');
  return existsSync(path) ? readFileSync(path) : null;
}

/** A visit that was acted out. Its session may still be open. */
export interface ActedVisit {
  subject: Subject;
  task: Task;
  seed: number;
  run: string;
  open: OpenVisit;
  endedAtMs: number;
}

/** Lets a subject act out a visit, with a fresh profile, and on a separate screen if it needs one. */
export async function actOut(
  stage: Pick<Stage, 'pages'>,
  subject: Subject,
  task: Task,
  seed: number,
): Promise<ActedVisit> {
  const run = `v${randomBytes(5).toString('hex')}`;
  const profile = await mkdtemp(join(tmpdir(), 'lab-'));
  const screen = subject.kind === 'driver' && subject.isHeadful ? await openScreen() : null;
  // Temporary files of the browser go with the profile, and the name finds processes that outlive a visit.
  const env = { ...(screen?.env ?? process.env), TMPDIR: profile, LAB_RUN: run };
  const open = stage.pages.open(run, task, seed);
  const { url, steps, geometry } = open;
  const timeout = new AbortController();
  try {
    const acting = subject.act({ url, task, seed, isHeadful: subject.isHeadful, steps, profile, env, geometry });
    const late = sleep(VISIT_LIMIT_MS, null, { signal: timeout.signal }).then(
      () => Promise.reject(new Error(`the visit took more than ${VISIT_LIMIT_MS / 1_000} s`)),
      () => {},
    );
    await Promise.race([acting, late]);
    return { subject, task, seed, run, open, endedAtMs: Date.now() };
  } finally {
    timeout.abort();
    await endLeftovers(run);
    await screen?.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

/** Reads the recording of a visit. Null while its session is open. Throws if it does not close. */
export async function readRecording({ sql }: Pick<Stage, 'sql'>, visit: ActedVisit): Promise<Recording | null> {
  const rows = await sql<Row[]>`
    select s.user_agent as "userAgent", s.bot_score as "botScore", s.detection_flags as "detectionFlags", t.body,
           e.version as "ruleSetVersion", s.closed_at is not null and t.body is not null as "isClosed"
      from sessions s
      join collected_sessions c on c.integration_id = s.integration_id and c.session_id = s.id
      left join session_traces t on t.day = c.day and t.session_key = c.key
      left join lateral (select rule_set_version as version from session_scores e
        where e.integration_id = s.integration_id and e.session_id = s.id order by scored_at desc limit 1) e on true
     where s.user_id = ${visit.run} order by length(t.body) desc nulls last`;
  const [row] = rows;
  if (!row || !rows.every(({ isClosed }) => isClosed)) {
    if (Date.now() < visit.endedAtMs + CLOSE_LIMIT_MS) return null;
    throw new Error(row ? 'the session did not close' : 'no session came of the visit');
  }
  const { body, isClosed: _, ...judged } = row;
  const { subject, task, seed, open } = visit;
  return { subject: subject.name, task, seed, ...judged, trace: body!.toString('base64'), botd: open.readBotd() };
}

interface Row extends Pick<Recording, 'userAgent' | 'botScore' | 'detectionFlags' | 'ruleSetVersion'> {
  body: Buffer | null;
  isClosed: boolean;
}

/** Waits until the session of a visit has closed, and reads its recording. */
export async function waitForRecording(stage: Pick<Stage, 'sql'>, visit: ActedVisit): Promise<Recording> {
  for (;;) {
    const recording = await readRecording(stage, visit);
    if (recording) return recording;
    await sleep(LOOK_MS);
  }
}
