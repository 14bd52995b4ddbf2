import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../db/client';
import { asOperator } from '../../server/audit/acts';
import { scoreTrace } from '../../server/detection/score';
import { createIntegration } from '../../server/domain/integrations';
import { createSite } from '../../server/domain/sites';
import { createTestDatabase } from '../support/database';
import { endProducts, makeDataDir, startProduct } from '../support/product';
import { THRESHOLDS } from './judge';
import { readTrace } from './recordings';
import { listMissingPrograms, openScreen, type Screen } from './screen';
import { actOut, openPages, STAGE_SETTINGS, type Stage, waitForRecording } from './stage';
import type { Step, Subject } from './subject';
import { loadSubjects } from './subjects';

// A slice of the laboratory: three drivers and three people's ways of input visit a page of the built product. It shows
// that the laboratory works, and that the clearest cases are judged right. How often they are is measured by
// `npm run lab`.

/** Who types nothing through the DevTools protocol leaves little but presses without pressure: too little for `bot`. */
const DRIVERS = [
  ['playwright-fill', 'bot'],
  ['playwright-paced', 'bot'],
  ['devtools-keys', 'medium'],
] as const;
const PEOPLE = ['mouse-chromium', 'keyboard-only-chromium', 'zoomed-chromium'];
const MAX_READ_MS = 300;

let stage: Stage;
let database: { db: Database; drop(): Promise<void> };
const subjects = await loadSubjects();
const find = (name: string) => subjects.find((subject) => subject.name === name)!;

/** Clicks only, and short pauses: typing takes people long. */
const shorten = (steps: readonly Step[]) =>
  steps
    .filter((step) => step.do !== 'type')
    .map((step) => (step.do === 'read' ? { ...step, forMs: Math.min(step.forMs, MAX_READ_MS) } : step));

beforeAll(async () => {
  const created = await createTestDatabase();
  database = created;
  const secrets = { APP_SECRET: randomBytes(32).toString('base64'), PIPELINE_TOKEN: randomBytes(24).toString('hex') };
  const settings = { DATABASE_URL: created.url, DEMO: '0', ...secrets, ...STAGE_SETTINGS, SESSION_GONE: '1s' };
  const { url } = await startProduct(await makeDataDir(), settings);
  const operator = asOperator(created.db);
  const opened = await openPages({
    url,
    sql: postgres(created.url, { max: 1, onnotice: () => {} }),
    async createSite(origin) {
      const plan = { name: 'Laboratory', plan: 'enterprise' as const, allowedOrigins: [origin] };
      const { id } = await createIntegration(operator, plan);
      return (await createSite(operator, { integrationId: id, name: 'Pages' })).siteKey;
    },
  });
  const { pages } = opened;
  const open: typeof pages.open = (...visit) => {
    const opening = pages.open(...visit);
    return { ...opening, steps: shorten(opening.steps) };
  };
  stage = { ...opened, pages: { ...pages, open } };
});
afterAll(async () => {
  await stage?.pages.close();
  await stage?.sql.end();
  await endProducts();
  await database?.drop();
});

const visit = async (subject: Subject) => {
  const recording = await waitForRecording(stage, await actOut(stage, subject, 'quiz', 2));
  const { botScore, detectionFlags } = scoreTrace(readTrace(recording));
  expect({ botScore, detectionFlags }).toEqual({
    botScore: recording.botScore,
    detectionFlags: recording.detectionFlags,
  });
  return recording;
};

it('a screen has its window manager before a window opens on it', async ({ skip }) => {
  skip(listMissingPrograms().length > 0, `not installed: ${listMissingPrograms()}`);
  const directory = await mkdtemp(join(tmpdir(), 'slow-'));
  const isManaged = async ({ env }: Screen) => promisify(execFile)('xdotool', ['get_num_desktops'], { env });
  try {
    // A window manager that starts late.
    const script = `#!/bin/sh\nPATH="\${PATH#*:}"\nsleep 1\nexec openbox "$@"\n`;
    await writeFile(join(directory, 'openbox'), script, { mode: 0o755 });
    const env = { ...process.env, PATH: `${directory}:${process.env.PATH}` };
    const screen = await openScreen({ profile: directory, env });
    await isManaged(screen).finally(() => screen.close());
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

it.for(DRIVERS)('%s is at least %s', async ([name, risk], { skip }) => {
  const missing = find(name).findMissing();
  skip(missing !== null, `not installed: ${missing}`);
  const { botScore, detectionFlags } = await visit(find(name));
  expect(botScore, detectionFlags.join()).toBeGreaterThanOrEqual(THRESHOLDS[risk]);
});

it.for(PEOPLE)('%s is not noticed', async (name, { skip }) => {
  const missing = find(name).findMissing();
  skip(missing !== null, `not installed: ${missing}`);
  const { botScore, detectionFlags } = await visit(find(name));
  expect(botScore, detectionFlags.join()).toBeLessThan(THRESHOLDS.medium);
});
