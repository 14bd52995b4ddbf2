import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BeaconEnvironment } from '../../contract/beacon';
import { answerCommand } from '../../server/commands';
import { RULE_SET_VERSION } from '../../server/detection/score';
import { DRIVEN, moved, ORDINARY, openPageSite, type PageSite, pageShown, Tab, typed } from '../support/beacon';
import { startTestServer, type TestServer } from '../support/server';

// `admin detection rescore`: sessions of the past get the scores of the present rules, and nothing is fired about them.

const CLOSE_WITHIN_MS = 10_000;

let server: TestServer;
let settings: Record<string, string>;
beforeAll(async () => {
  server = await startTestServer({ SESSION_IDLE: '1h' });
  const secret = server.service.env.APP_SECRET!.toString('base64');
  settings = { DATABASE_URL: server.database.url, APP_SECRET: secret };
});
afterAll(() => server.stop());

const run = (...args: string[]) =>
  answerCommand(['detection', 'rescore', ...args], { settings, readPassword: async () => null });

async function rescore(...args: string[]) {
  const answer = await run(...args, '--json');
  expect(answer).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(answer.stdout);
}

const openSite = async (): Promise<PageSite> =>
  openPageSite({ db: server.service.db, url: server.url }, await server.createTenant('enterprise'));

const get = async ({ key }: PageSite, path: string) => (await server.call('GET', `/v1/${path}`, { key })).body.data;

/** Begins a session, goes through pages on which something is done, and closes it or not. Returns its id. */
async function visit(
  site: PageSite,
  { environment = ORDINARY, pages = [] as BeaconEnvironment[], isOpen = false } = {},
): Promise<string> {
  const known = new Set((await get(site, 'sessions')).map(({ id }: { id: string }) => id));
  const tab = new Tab(site, environment);
  await tab.send();
  for (const e of pages) {
    await tab.send({ e, ev: [...moved(tab.now10, 20), ...typed(160, 20)] });
    tab.navigate();
    await tab.send({ e, ev: pageShown(tab.now10) });
  }
  if (!isOpen) await tab.send({ x: 1 });
  const find = async () => (await get(site, 'sessions')).find(({ id }: { id: string }) => !known.has(id));
  await expect
    .poll(async () => (await find())?.status, { timeout: CLOSE_WITHIN_MS })
    .toBe(isOpen ? 'Active' : 'Scored');
  const { id } = await find();
  const countTraces = async () => {
    const [row] = await server.database.db.query<{ count: number }>(
      `select count(*)::int from session_traces t join collected_sessions c on c.key = t.session_key where c.session_id = $1`,
      [id],
    );
    return row!.count;
  };
  if (!isOpen) await expect.poll(countTraces, { timeout: CLOSE_WITHIN_MS }).toBe(1);
  return id;
}

/** Gives a session the score of other rules, as an earlier version of the product would have left it. */
async function makeOld(id: string, { score, flags, version = '2025.9' as string | null }: OldScore): Promise<void> {
  const { db } = server.database;
  await db.query(
    `update sessions set bot_score = $2::float8, score_bin = round($2::float8 * 100)::int, detection_flags = string_to_array($3::text, ',')
      where id = $1`,
    [id, score, flags.join()],
  );
  await db.query(
    `update session_scores set bot_score = $2::float8, detection_flags = string_to_array($3::text, ','), rule_set_version = $4, evidence = null
      where session_id = $1 and scored_at = (select max(scored_at) from session_scores where session_id = $1)`,
    [id, score, flags.join(), version],
  );
}
interface OldScore {
  score: number;
  flags: string[];
  version?: string | null;
}

/** Everything that a rescoring could change. */
async function readAll(site: PageSite) {
  const [events] = await server.database.db.query<{ fired: number; deliveries: number }>(
    `select (select count(*)::int from domain_events where integration_id = $1) as fired,
            (select count(*)::int from webhook_deliveries where integration_id = $1) as deliveries`,
    [site.integrationId],
  );
  const sessions: { id: string }[] = await get(site, 'sessions');
  const evidence = await Promise.all(sessions.map(({ id }) => get(site, `sessions/${id}/evidence`)));
  return { events: events!, sessions, evidence };
}

const listAudit = async (site: PageSite) => {
  const { stdout } = await answerCommand(['audit', 'list', '--integration', site.integrationId, '--json'], {
    settings,
    readPassword: async () => null,
  });
  const { entries } = JSON.parse(stdout);
  return entries.filter(({ action }: { action: string }) => action === 'SessionsRescored');
};

describe('detection rescore', () => {
  it('records the scores of the present rules once, says what changes, and fires nothing', async () => {
    const site = await openSite();
    const body = { url: 'https://hooks.example.com/', eventType: 'BotDetected' };
    await server.call('POST', '/v1/webhooks', { key: site.key, body });
    const missed = await visit(site, { environment: DRIVEN });
    const accused = await visit(site);
    const labelled = await visit(site);
    const current = await visit(site);
    const foreign = await visit(site);
    const open = await visit(site, { isOpen: true });
    const label = { verdict: 'bot', confidence: 'high' };
    await server.call('POST', `/v1/sessions/${labelled}/label`, { key: site.key, body: label });
    await makeOld(missed, { score: 0.03, flags: [] });
    for (const id of [accused, labelled, open])
      await makeOld(id, { score: 0.95, flags: ['headless', 'zero-pressure'] });
    await makeOld(foreign, { score: 0.8, flags: ['other'], version: null });

    const before = await readAll(site);
    expect(before.events.fired).toBe(1);
    const counts = { ruleSetVersion: RULE_SET_VERSION, judged: 4, open: 1, current: 1, foreign: 1 };
    const humans = { sessions: 2, found: {}, gone: { headless: 2, 'zero-pressure': 2 } };
    const report = {
      ...counts,
      changes: expect.arrayContaining([
        { from: 'human', to: 'bot', sessions: 1, found: { webdriver: 1 }, gone: {} },
        { from: 'bot', to: 'human', ...humans },
      ]),
      sessions: expect.arrayContaining([
        {
          ...{ integrationId: site.integrationId, sessionId: missed, from: 'human', to: 'bot' },
          ...{ scoreBefore: 0.03, score: 0.971 },
        },
      ]),
    };
    const dry = await rescore('--dry-run', '--integration', site.integrationId);
    expect(dry).toEqual({ ...report, isDryRun: true, recorded: 0 });
    expect(dry.sessions.map(({ sessionId }: { sessionId: string }) => sessionId).sort()).toEqual(
      [missed, accused, open].sort(),
    );
    expect(await readAll(site)).toEqual(before);
    expect(await listAudit(site)).toEqual([]);

    expect(await rescore('--integration', site.integrationId)).toEqual({ ...report, isDryRun: false, recorded: 3 });
    const after = await readAll(site);
    expect(after.events).toEqual(before.events);
    const riskOf = (id: string) => after.sessions.find((session) => session.id === id);
    expect(riskOf(missed)).toMatchObject({ botScore: 0.971, riskLevel: 'bot', detectionFlags: ['webdriver'] });
    expect(riskOf(accused)).toMatchObject({ riskLevel: 'human', detectionFlags: [] });
    // The label still decides, and the score that it contradicts has changed.
    expect(riskOf(labelled)).toMatchObject({ riskLevel: 'bot', botScore: 0.029 });
    for (const id of [current, foreign, open])
      expect(riskOf(id)).toEqual(before.sessions.find((session) => session.id === id));
    // The score before stays in the history, so what was decided on it can still be explained.
    const evidence = await get(site, `sessions/${missed}/evidence`);
    expect(evidence).toMatchObject({ botScore: 0.971, ruleSetVersion: RULE_SET_VERSION });
    expect(evidence.findings[0]).toMatchObject({ flag: 'webdriver', state: 'found' });
    expect(evidence.scores.slice(-2)).toMatchObject([{ botScore: 0.03 }, { botScore: 0.971 }]);
    const entry = { actor: { kind: 'Operator' }, details: { ruleSetVersion: RULE_SET_VERSION } };
    expect(await listAudit(site)).toMatchObject([entry]);

    const again = await rescore('--integration', site.integrationId);
    expect(again).toMatchObject({ judged: 1, recorded: 0, open: 1, current: 4, foreign: 1 });
    expect(await readAll(site)).toEqual(after);
    expect(await listAudit(site)).toHaveLength(1);
  });

  it('keeps how the parts of a session look, and tells of no takeover that the present rules see in them', async () => {
    const site = await openSite();
    const id = await visit(site, { pages: [ORDINARY, ORDINARY, DRIVEN, DRIVEN, DRIVEN] });
    const readParts = async () => {
      const [score] = await server.database.db.query<{ segments: object[] | null; version: string }>(
        `select segments, rule_set_version as version from session_scores where session_id = $1 order by scored_at desc limit 1`,
        [id],
      );
      return score!;
    };
    const parts = await readParts();
    expect(parts.segments).toHaveLength(5);
    const countOutbox = async () => {
      const [outbox] = await server.database.db.query<{ count: number }>(
        `select count(*)::int as count from fact_outbox where integration_id = $1`,
        [site.integrationId],
      );
      return outbox!.count;
    };
    await expect.poll(countOutbox, { timeout: CLOSE_WITHIN_MS }).toBe(0);
    await makeOld(id, { score: 0.03, flags: [] });
    await server.database.db.query(
      `with told as (delete from anomalies where integration_id = $1),
            fired as (delete from domain_events where integration_id = $1)
       update session_scores set segments = null where session_id = $2`,
      [site.integrationId, id],
    );
    expect(await rescore('--integration', site.integrationId)).toMatchObject({ recorded: 1 });
    expect(await readParts()).toEqual(parts);
    expect(await countOutbox()).toBe(0);
    expect((await readAll(site)).events).toEqual({ fired: 0, deliveries: 0 });
  });

  it('lets an alert rule fire that counts sessions of today, by the new scores', async () => {
    const site = await openSite();
    const { integrationId } = site;
    const missed = await visit(site, { environment: DRIVEN });
    await makeOld(missed, { score: 0.03, flags: [] });
    const { db, alertRules } = server.service;
    await db.query(
      `insert into alert_rules (integration_id, id, name, metric, scope, scope_value, window_minutes, comparison, value, min_sessions,
                                cool_down_minutes, severity, message, judged_from, enabled)
       values ($1, 'rul_bots', 'Bots', 'botSessions', 'integration', '', 60, 'gte', 1, 20, 60, 'high', 'Bots', now() - interval '1 hour', true)`,
      [integrationId],
    );
    const countAlerts = async () =>
      (await db.query('select 1 from alerts where integration_id = $1', [integrationId])).length;
    await alertRules.evaluate(integrationId);
    expect(await countAlerts()).toBe(0);
    await rescore('--integration', integrationId);
    // The process judges the rules by itself too, after commits and each minute, and may be the first one.
    await alertRules.evaluate(integrationId);
    await expect.poll(countAlerts).toBe(1);
  });

  it('reads page after page, of all integrations or one, and of no trace that is too old', async () => {
    const [site, other] = [await openSite(), await openSite()];
    const ids = [await visit(site), await visit(other)];
    // More sessions than a page has, with the trace of the first one.
    await server.database.db.query(
      `with old as (select c.*, t.body, t.batches from collected_sessions c join session_traces t on t.session_key = c.key
                     where c.session_id = $1),
       copies as (select 'copy_' || n as id from generate_series(1, 45) n),
       collected as (
         insert into collected_sessions (integration_id, session_id, site_id, created_at, day, user_agent, closed_at)
         select integration_id, copies.id, site_id, created_at, day, user_agent, closed_at from old, copies
         returning key, session_id, day),
       traces as (
         insert into session_traces (day, session_key, batches, body)
         select collected.day, collected.key, old.batches, old.body from collected, old)
       insert into sessions (integration_id, id, created_at, closed_at, status, page_url, origin, user_agent,
                             user_agent_summary, device_type, browser, bot_score, score_bin, scored_at)
       select s.integration_id, copies.id, s.created_at, s.closed_at, s.status, s.page_url, s.origin, s.user_agent,
              s.user_agent_summary, s.device_type, s.browser, s.bot_score, s.score_bin, s.scored_at
         from sessions s, copies where s.id = $1`,
      [ids[0]!],
    );
    await server.database.db.query(
      `insert into session_scores (integration_id, session_id, scored_at, bot_score, detection_flags, rule_set_version)
       select integration_id, id, scored_at, bot_score, '{}', '2025.9' from sessions where id like 'copy_%'`,
      [],
    );
    for (const id of ids) await makeOld(id, { score: 0.95, flags: ['headless'] });
    const old = `update collected_sessions set day = day - $2::int where session_id = $1`;
    await server.database.db.query(old, ['copy_1', 31]);
    expect(await rescore('--dry-run', '--integration', site.integrationId)).toMatchObject({ judged: 45 });
    const plain = await run('--dry-run', '--integration', other.integrationId);
    expect(plain.stdout).toMatch(
      new RegExp(`^ruleSetVersion: ${RULE_SET_VERSION}\nisDryRun: true\njudged: 1\n[^]*bot\thuman\t1\t{}`),
    );
    expect(await rescore('--integration', other.integrationId)).toMatchObject({ judged: 1, recorded: 1 });
    const { judged, open } = await rescore('--dry-run');
    expect(await rescore()).toMatchObject({ judged, recorded: judged - open });
    expect(await listAudit(site)).toHaveLength(1);
    expect(await rescore()).toMatchObject({ recorded: 0 });
  });

  it('refuses an integration that does not exist, and a value for a switch', async () => {
    expect(await run('--integration', 'nope')).toEqual({ code: 1, stdout: '', stderr: 'Integration not found\n' });
    expect((await run('--dry-run=yes')).stderr).toMatch(/--dry-run/);
  });
});
