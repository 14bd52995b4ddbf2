import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Beacon } from '../../contract/beacon';
import type { Finding } from '../../contract/evidence';
import { RULE_SET_VERSION } from '../../server/detection/score';
import { unpackNumbers } from '../../server/detection/varints';
import { openPageSite, type PageSite, Tab } from '../support/beacon';
import { mmdbMap, mmdbNumber, writeMmdb } from '../support/mmdb';
import { startTestServer, type TestServer } from '../support/server';
import { SigningAgent, type Terms } from '../support/signing-agent';
import { imitate, RECORDED_HUMAN } from '../support/synthetic-sessions';

// Evidence that is not in what a page sends: where it came from, and whether it was seen before.

const directory = mkdtempSync(join(tmpdir(), 'networks-'));
let server: TestServer;
const agent = new SigningAgent('');
let directoryServer: Server;
/** An agent whose directory takes requests and never answers. */
const slowAgent = new SigningAgent('');
let hanging = 0;
/** As in server/collector/signed-agents.ts. */
const DIRECTORY_TIMEOUT_MS = 5_000;
const asked: string[] = [];
beforeAll(async () => {
  const networks = writeMmdb(
    join(directory, 'networks.mmdb'),
    mmdbMap([['autonomous_system_number', mmdbNumber(16_509)]]),
  );
  directoryServer = createServer((request, response) => {
    if (request.headers.host !== new URL(agent.origin).host) return void hanging++;
    asked.push(request.url ?? '');
    response.setHeader('content-type', 'application/http-message-signatures-directory+json').end(agent.directory);
  });
  await new Promise<void>((listening) => directoryServer.listen(0, listening));
  const { port } = directoryServer.address() as AddressInfo;
  agent.origin = `http://127.0.0.1:${port}`;
  slowAgent.origin = `http://127.0.0.2:${port}`;
  server = await startTestServer({
    ...{ ASN_DATABASE: networks, SIGNATURE_AGENTS: `${agent.origin},${slowAgent.origin}` },
    WEBHOOK_ALLOW_HOSTS: `127.0.0.1:${port},127.0.0.2:${port}`,
  });
});
afterAll(async () => {
  await server.stop();
  directoryServer.closeAllConnections();
  directoryServer.close();
  rmSync(directory, { recursive: true });
});

const openSite = async () =>
  openPageSite({ db: server.service.db, url: server.url }, await server.createTenant('enterprise'));

/** Sends what a person did, as one session, and ends it. Answers the findings of its last score. */
async function visit(site: PageSite, seed: number, batchCount = 99): Promise<Map<string, Finding>> {
  const tab = new Tab(site);
  const { batches } = imitate(RECORDED_HUMAN, seed);
  const sent = batches.slice(0, batchCount);
  for (const [place, { c, e, p, events }] of sent.entries()) {
    const content: Partial<Beacon> = { c, ev: unpackNumbers(events), ...(e && { e }), ...(p ? { p } : { p: [] }) };
    if (place === sent.length - 1) content.x = 1;
    const beacon = tab.make(content);
    expect((await tab.post(beacon)).status).toBe(200);
    // A batch that is sent again changes nothing.
    expect((await tab.post(beacon)).status).toBe(200);
  }
  const [row] = await server.service.db.query<{ id: string }>(
    'select session_id as id from collected_sessions where integration_id = $1 order by key desc limit 1',
    [site.integrationId],
  );
  const path = `/v1/sessions/${row!.id}`;
  const { key } = site;
  await expect.poll(async () => (await server.call('GET', path, { key })).body.data?.status).toBe('Scored');
  const { body } = await server.call('GET', `${path}/evidence`, { key });
  expect(body.data.ruleSetVersion).toBe(RULE_SET_VERSION);
  return new Map(body.data.findings.map((finding: Finding) => [finding.flag, finding]));
}

/** Makes the sessions of a site as old as a few minutes. */
const age = ({ integrationId }: PageSite) =>
  server.service.db.query(
    "update collected_sessions set created_at = created_at - interval '5 minutes' where integration_id = $1",
    [integrationId],
  );

const stateOf = (findings: Map<string, Finding>) => findings.get('replayed-trace')!.state;

describe('input that was seen before', () => {
  it('is found in a later session of the integration, and nowhere else', async () => {
    const [site, other] = [await openSite(), await openSite()];
    expect(stateOf(await visit(site, 7))).toBe('notFound');
    // At the same time it is the same person, seen by two sites of a page.
    expect(stateOf(await visit(site, 7))).toBe('notFound');
    await age(site);
    const findings = await visit(site, 7);
    expect(findings.get('replayed-trace')).toMatchObject({ state: 'found', measured: 'true', group: 'integrity' });
    expect(stateOf(await visit(site, 8))).toBe('notFound');
    expect(stateOf(await visit(other, 7))).toBe('notFound');
  });

  it('cannot be told of a short visit, of which no digest is kept', async () => {
    const site = await openSite();
    for (const _ of [1, 2]) {
      expect(stateOf(await visit(site, 9, 2))).toBe('notMeasured');
      await age(site);
    }
    const rows = await server.service.db.query<{ digests: number; isReplay: boolean | null }>(
      'select cardinality(digests) as digests, is_replay as "isReplay" from collected_sessions where integration_id = $1',
      [site.integrationId],
    );
    expect(rows).toEqual([
      { digests: 0, isReplay: null },
      { digests: 0, isReplay: null },
    ]);
  });
});

describe('the network of a client', () => {
  it('is looked up in the database of networks', async () => {
    const findings = await visit(await openSite(), 3);
    expect(findings.get('datacenter-network')).toMatchObject({
      ...{ state: 'found', group: 'network', measured: 'AS16509 Amazon', weight: 0.8 },
    });
  });
});

describe('an agent that signs its requests', () => {
  const sign = (by: SigningAgent, authority = new URL(server.url).host, terms: Terms = {}) =>
    by.sign({ method: 'POST', authority, path: '/collect' }, terms);
  const flagsOf = async (site: PageSite): Promise<string[] | null> => {
    const { body } = await server.call('GET', '/v1/sessions', { key: site.key });
    return body.data[0]?.detectionFlags ?? null;
  };

  it('is proof as soon as its keys are known', async () => {
    const site = await openSite();
    const tab = new Tab(site);
    const name = `declared-agent:${new URL(agent.origin).host}`;
    const sendUntilNamed = async () => {
      expect((await tab.send({}, sign(agent))).status).toBe(200);
      return flagsOf(site);
    };
    await expect.poll(sendUntilNamed, { interval: 400 }).toContain(name);
    expect(asked).toEqual(['/.well-known/http-message-signatures-directory']);
    const { body } = await server.call('GET', '/v1/sessions', { key: site.key });
    expect(body.data[0].botScore).toBeGreaterThan(0.9);
  });

  it('is nothing if its signature was made for another host, or by another key', async () => {
    const site = await openSite();
    const forger = new SigningAgent(agent.origin);
    const tab = new Tab(site);
    for (const headers of [sign(agent, 'evil.example'), sign(forger), { 'signature-agent': 'x' }])
      expect((await tab.send({}, headers)).status).toBe(200);
    await expect.poll(() => flagsOf(site)).toEqual(['datacenter-network']);
  });

  it('is nothing, and no fault, if it covers a field named like what every object has', async () => {
    const site = await openSite();
    const tab = new Tab(site);
    for (const name of ['constructor', '__proto__']) {
      const components = ['"@authority"', '"signature-agent"', `"${name}"`];
      expect((await tab.send({}, sign(agent, undefined, { components }))).status).toBe(200);
    }
    await expect.poll(() => flagsOf(site)).toEqual(['datacenter-network']);
  });

  it('delays no answer while its directory hangs', async () => {
    const tab = new Tab(await openSite());
    const startedAt = performance.now();
    for (let i = 0; i < 3; i++) expect((await tab.send({}, sign(slowAgent))).status).toBe(200);
    expect(performance.now() - startedAt).toBeLessThan(DIRECTORY_TIMEOUT_MS);
    expect(hanging).toBe(1);
  });
});
