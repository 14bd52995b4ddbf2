import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Beacon } from '../../contract/beacon';
import type { WritingEvidence } from '../../contract/writing';
import { createCollector } from '../../server/collector/collector';
import type { TraceBatch } from '../../server/detection/trace';
import { unpackNumbers } from '../../server/detection/varints';
import type { Fact } from '../../server/pipeline/facts';
import { makeSessionsDue, openPageSite, PAGE_URL, type PageSite, Tab } from '../support/beacon';
import { expectSigned, type Receiver, startReceiver, waitUntil } from '../support/receiver';
import { startTestServer, type TestServer } from '../support/server';
import { compose, fill, WrittenPage } from '../support/writers';

// What is written on a page, from its batches to the webhook.

let server: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  server = await startTestServer({ WEBHOOK_ALLOW_HOSTS: receiver.host });
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
});

const openSite = async () =>
  openPageSite({ db: server.service.db, url: server.url }, await server.createTenant('enterprise'));

/** The beacons of a tab in which so much was written; the last one ends the session. */
function makeBeacons(tab: Tab, batches: readonly TraceBatch[], users: (string | undefined)[]): Beacon[] {
  return batches.map(({ c, events, w, e }, n) =>
    tab.make({
      ...{ c, ev: unpackNumbers(events), ...(w && { w }), ...(e ? { e, p: [PAGE_URL] } : {}) },
      ...(users[n] && { u: { id: users[n] } }),
      ...(n === batches.length - 1 ? { x: 1 as const } : {}),
    }),
  );
}

/** An essay that was composed, and an answer that a script wrote. */
function write(): WrittenPage {
  const page = compose(new WrittenPage({ seed: 7 }), 800);
  return fill(page.into(1, 'Answer 2'), 600);
}

async function visit(
  site: PageSite,
  batches = write().send([400, 900]),
  users: (string | undefined)[] = ['u-1'],
  tab = new Tab(site),
): Promise<Tab> {
  for (const beacon of makeBeacons(tab, batches, users)) {
    expect((await tab.post({ ...beacon, ...(tab.token && { t: tab.token }) })).status).toBe(200);
    // A batch that is sent again changes nothing.
    expect((await tab.post({ ...beacon, ...(tab.token && { t: tab.token }) })).status).toBe(200);
  }
  return tab;
}

interface Row {
  id: string;
  documentId: string | null;
  aiScore: number;
  wordCount: number | null;
  userId: string | null;
  browsingSessionId: string;
  scoredAt: string;
  evidence: WritingEvidence;
}
const readScores = ({ integrationId }: PageSite) =>
  server.service.db.query<Row>(
    `select session_id as id, document_id as "documentId", ai_score as "aiScore", word_count as "wordCount",
            user_id as "userId", browsing_session_id as "browsingSessionId", scored_at as "scoredAt", evidence
       from writing_scores where integration_id = $1 order by document_id`,
    [integrationId],
  );
const waitForClose = (site: PageSite) =>
  waitUntil(async () => {
    const { body } = await server.call('GET', '/v1/sessions', { key: site.key });
    return body.data[0]?.status === 'Scored';
  });

describe('what is written on a page', () => {
  it('is told when its session closes: one event for each text', async () => {
    const site = await openSite();
    const { body: subscription } = await server.call('POST', '/v1/webhooks', {
      key: site.key,
      body: { url: `${receiver.url}/written`, eventType: 'WritingSessionScored' },
    });
    const told: Fact[][] = [];
    const { ingester } = server.service;
    const { ingestFacts } = ingester;
    ingester.ingestFacts = (input) => {
      told.push(input.facts);
      return ingestFacts(input);
    };
    await visit(site).finally(() => waitForClose(site));
    ingester.ingestFacts = ingestFacts;
    expect(told.at(-1)!.map(({ kind }) => kind)).toEqual([
      ...['sessionEvents', 'sessionScored', 'writingScored', 'writingScored', 'sessionClosed'],
    ]);

    const received = await receiver.waitFor(2);
    for (const one of received) expectSigned(one, subscription.data.secret);
    const payloads = received.map(({ body }) => JSON.parse(body)).sort((a, b) => a.aiScore - b.aiScore);
    const [essay, answer] = await readScores(site).then((rows) => rows.toSorted((a, b) => a.aiScore - b.aiScore));
    expect(payloads).toEqual(
      [essay!, answer!].map(({ id, documentId, aiScore, scoredAt, userId, wordCount }) => ({
        ...{ sessionId: id, documentId, aiScore, userId, wordCount },
        scoredAt: new Date(scoredAt).toISOString(),
      })),
    );
    expect(essay).toMatchObject({ documentId: 'essay', userId: 'u-1', aiScore: 0.1 });
    expect(essay!.wordCount).toBeGreaterThan(110);
    expect(essay!.evidence.characters.typed).toBeGreaterThan(790);
    expect(answer).toMatchObject({ documentId: 'Answer 2', wordCount: null });
    expect(answer!.aiScore).toBeGreaterThan(0.9);
    expect(answer!.evidence.reasons[0]).toMatchObject({ name: 'text-inserted', measured: 1, weight: 5 });
    expect(essay!.id).toMatch(/^wri_[\w-]{22}$/);
    expect(essay!.id).not.toBe(answer!.id);
    const { body } = await server.call('GET', '/v1/sessions', { key: site.key });
    expect([essay!.browsingSessionId, answer!.browsingSessionId]).toEqual([body.data[0].id, body.data[0].id]);
  });

  it.each([
    ['the user', ['u-1', undefined, 'u-1'], 'u-1'],
    ['nobody if another user had the tab before: the text may be theirs', ['u-1', undefined, 'u-2'], null],
    ['nobody if another user had the tab in between', ['u-1', 'u-2', 'u-1'], null],
  ])('names %s', async (_, users, expected) => {
    const site = await openSite();
    await visit(site, undefined, users);
    await waitForClose(site);
    expect((await readScores(site)).map(({ userId }) => userId)).toEqual([expected, expected]);
  });

  it('names nobody on a page that names nobody, after one that named the user: the user may have signed out', async () => {
    const site = await openSite();
    const tab = new Tab(site);
    await tab.send({ u: { id: 'u-1' } });
    tab.navigate();
    await visit(site, undefined, [], tab);
    await waitForClose(site);
    expect((await readScores(site)).map(({ userId }) => userId)).toEqual([null, null]);
  });

  it('has no id if the page gives one that no fact may have', async () => {
    const site = await openSite();
    const page = new WrittenPage().into(0, '..');
    fill(fill(page, 400).into(1, ''), 500);
    await visit(site, page.send());
    await waitForClose(site);
    const rows = await readScores(site);
    expect(rows.map(({ documentId }) => documentId)).toEqual([null, null]);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(2);
  });

  it('is not scored for an integration that has switched it off', async () => {
    const site = await openSite();
    await server.database.db.sql`
      insert into finding_rules (integration_id, rule, is_enabled) values (${site.integrationId}, 'WritingSessionScored', false)`;
    await visit(site);
    await waitForClose(site);
    expect(await readScores(site)).toEqual([]);
  });

  it('is told by the next process if one dies before it tells the close, and only once', async () => {
    const site = await openSite();
    const dying = await startTestServer({}, server);
    const [lost, told]: Fact[][] = [[], []];
    const { ingestFacts } = server.service.ingester;
    // The facts of the close never arrive, as if it had died before.
    dying.service.ingester.ingestFacts = (input) => {
      if (!input.facts.some(({ kind }) => kind === 'sessionClosed')) return ingestFacts(input);
      lost!.push(...input.facts);
      return new Promise(() => {});
    };
    await visit({ ...site, url: dying.url });
    await waitUntil(async () => {
      const [row] = await server.service.db.query<{ isClosed: boolean }>(
        'select closed_at is not null as "isClosed" from collected_sessions where integration_id = $1',
        [site.integrationId],
      );
      return row?.isClosed ?? false;
    });
    expect(await readScores(site)).toEqual([]);
    await makeSessionsDue(server.service.db, site);
    const ingester = {
      ...server.service.ingester,
      ingestFacts: (input: Parameters<typeof ingestFacts>[0]) => {
        told!.push(...input.facts);
        return ingestFacts(input);
      },
    };
    const next = createCollector({ ...server.service, ingester, hasTimers: false });
    await next.sweep();
    await waitForClose(site);
    expect((await readScores(site)).map(({ documentId }) => documentId)).toEqual(['Answer 2', 'essay']);
    expect(told).toEqual(lost);
    await next.stop();
    await dying.stop();
  });
});
