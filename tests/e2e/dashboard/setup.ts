import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DOCUMENTS } from '../../../app/docs/documents';
import { type Role, settle } from '../../support/dashboard';
import { dashboard, receiver } from './shared-dashboard';

/** A page of a customer, with whatever tag the test copied. */
let site: Server;
let origin: string;
let tag = '';

async function createIntegration(name: string, plan = 'enterprise'): Promise<{ id: string; base: string }> {
  const page = await dashboard.open({ role: 'admin' });
  const made = await dashboard.change(page.context(), 'integrations.create', { name, plan });
  const { id } = (await made.json()).result.data;
  return { id, base: `${dashboard.product.url}/dashboard/${id}` };
}

async function visit(address: string, role: Role = 'admin'): Promise<Page> {
  const page = await dashboard.open({ role });
  await page.goto(address);
  await settle(page);
  return page;
}

const stepOf = (page: Page, step: string) => page.locator(`[data-step="${step}"]`);
const isDone = (page: Page, step: string) => stepOf(page, step).getByText('Done', { exact: true }).waitFor();
const railLink = (page: Page) => page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Set-up' });

/** The set-up of an integration, and the documents inside of the product. */
export function registerSetupTests(): void {
  beforeAll(async () => {
    site = createServer((_request, response) =>
      response.setHeader('content-type', 'text/html').end(`<!doctype html><head>${tag}</head><p>A page</p>`),
    );
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    site?.close().closeAllConnections();
  });

  describe('the set-up', () => {
    it('leads from an empty integration to a first event, a key and a delivery, and shows what is done as it is done', async () => {
      const { id, base } = await createIntegration('Fresh University');
      const page = await visit(`${base}/overview`);
      await page.getByText('0 of 4 steps done').waitFor();
      await page.getByRole('link', { name: 'Set up this integration' }).click();
      await page.getByRole('heading', { name: 'Set-up', level: 1 }).waitFor();
      expect(await railLink(page).getAttribute('aria-current')).toBe('page');

      await page.getByRole('textbox', { name: 'Origins' }).fill(`${origin}/`);
      await page.getByRole('button', { name: 'Save origins' }).click();
      await isDone(page, 'origins');

      await page.getByRole('button', { name: 'Create a site' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill('Campus LMS');
      await page.getByRole('button', { name: 'Create site' }).click();
      const pixel = stepOf(page, 'pixel');
      await pixel.getByText('Waiting for the first event').waitFor();
      // While nothing comes, it says what to look at, and the check says why.
      expect(await pixel.textContent()).toContain(`Open a page with the tag, at ${origin}.`);
      await pixel.getByText('Check why a page sends nothing').click();
      await pixel.getByLabel('Address of the page').fill('https://elsewhere.example.edu');
      await pixel.getByRole('button', { name: 'Check' }).click();
      await pixel.getByText('Origin not allowed').waitFor();

      // A browser opens a page with exactly the tag that the list shows. The list is not touched.
      tag = (await pixel.locator('pre').textContent())!;
      const visitor = await page.context().newPage();
      await visitor.goto(origin);
      await visitor.mouse.move(50, 50);
      await visitor.mouse.move(90, 120, { steps: 5 });
      await pixel.getByText('First event received').waitFor();
      await pixel.getByText(`from ${origin}`).waitFor();
      await visitor.close();
      await isDone(page, 'pixel');

      const apiKey = stepOf(page, 'apiKey');
      await apiKey.getByRole('button', { name: 'Mint a key' }).click();
      await page.getByLabel('Name').fill('First key');
      await page.getByRole('button', { name: 'Mint key' }).click();
      const key = (await page
        .getByRole('dialog')
        .getByText(/^aik_v1_/)
        .textContent())!;
      await page.getByRole('button', { name: 'I have stored it' }).click();
      await isDone(page, 'apiKey');
      const headers = { authorization: `Bearer ${key}` };
      expect((await fetch(`${dashboard.product.url}/v1/integration`, { headers })).status).toBe(200);

      const webhook = stepOf(page, 'webhook');
      await webhook.getByRole('link', { name: 'Create a webhook' }).waitFor();
      // Of a type that the visit above does not fire.
      const subscription = { url: `${receiver.url}/setup`, eventType: 'ReportReady', name: 'To the gradebook' };
      await dashboard.change(page.context(), 'webhooks.create', subscription, id);
      await webhook.getByText('To the gradebook is active, but no receiver has accepted a delivery yet').waitFor();
      expect(await stepOf(page, 'webhook').getByText('Not done').count()).toBe(1);
      await webhook.getByRole('button', { name: 'Send test' }).click();
      await page.getByRole('dialog').getByText('Delivered').waitFor();
      await page.getByRole('button', { name: 'Done', exact: true }).click();
      await isDone(page, 'webhook');
      await page.getByText('4 of 4 steps done').waitFor();
      // Once it is done, the menu has no place for it.
      await expect.poll(() => railLink(page).count()).toBe(0);
      await page.reload();
      await settle(page);
      expect(await railLink(page).count()).toBe(0);
    });

    it('says on the overview why its steps cannot be read', async () => {
      const { base } = await createIntegration('Without answers');
      const page = await dashboard.open({ role: 'viewer', provokes: /status of 403/ });
      // Nothing of it comes with the page if it is hidden from the menu.
      const { hostname: domain, pathname: path } = new URL(base);
      await page.context().addCookies([{ name: 'setup', value: 'dismissed', domain, path }]);
      const refusal = { message: 'Not now', code: -32_603, data: { code: 'FORBIDDEN', httpStatus: 403 } };
      await page.route('**/api/trpc/setup.get*', (route) => route.fulfill({ status: 403, json: { error: refusal } }));
      await page.goto(`${base}/overview`);
      await page.getByRole('alert').getByText('Not now').waitFor();
      await page.unrouteAll({ behavior: 'wait' });
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('0 of 4 steps done').waitFor();
    });

    it('is that of one integration, also after a double-click on a slow machine', async () => {
      const page = await visit(`${dashboard.base}/settings?tab=integration`);
      await page.getByRole('button', { name: 'Create an integration' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill('Pressed twice');
      const button = page.getByRole('dialog').getByRole('button', { name: 'Create integration' });
      const { x, y } = (await button.boundingBox())!;
      const client = await page.context().newCDPSession(page);
      // All four are in the queue of the page before it handles the first.
      const press = (clickCount: number) =>
        (['mousePressed', 'mouseReleased'] as const).map((type) =>
          client.send('Input.dispatchMouseEvent', { type, x: x + 5, y: y + 5, button: 'left', clickCount }),
        );
      await Promise.all([...press(1), ...press(2)]);
      await page.waitForURL(/\/setup$/);
      await page.waitForLoadState('networkidle');
      await client.detach();
      const listed = await dashboard.ask(page.context(), 'integrations.list');
      const names = (await listed.json()).result.data.map(({ name }: { name: string }) => name);
      expect(names.filter((name: string) => name === 'Pressed twice')).toHaveLength(1);
    });

    it('tells people in other roles what they may not do', async () => {
      const { base } = await createIntegration('Read University');
      const page = await visit(`${base}/setup`, 'viewer');
      for (const act of ['change the origins', 'create a site', 'mint keys'])
        await page.getByText(`Your role is viewer: only admins may ${act}.`).waitFor();
      await page.getByText('Your role is viewer: only analysts and admins may create and test webhooks.').waitFor();
      for (const name of ['Save origins', 'Create a site', 'Mint a key', 'Create a webhook'])
        expect([name, await page.getByRole('button', { name }).isDisabled()]).toEqual([name, true]);
      const analyst = await visit(`${base}/setup`, 'analyst');
      await analyst.getByRole('link', { name: 'Create a webhook' }).waitFor();
      expect(await analyst.getByRole('button', { name: 'Mint a key' }).isDisabled()).toBe(true);
    });

    it('is hidden from the menu of one integration, and shown again', async () => {
      const { base } = await createIntegration('Hidden University', 'free');
      const page = await visit(`${base}/setup`);
      await page.getByText('0 of 3 steps done').waitFor();
      await stepOf(page, 'webhook').getByText('Not in the plan').waitFor();
      await page.getByRole('button', { name: 'Hide from the menu' }).click();
      await page.getByRole('button', { name: 'Show in the menu' }).waitFor();
      expect(await railLink(page).count()).toBe(0);
      await page.goto(`${base}/webhooks`);
      await settle(page);
      expect(await railLink(page).count()).toBe(0);
      const other = await createIntegration('Shown University', 'free');
      expect(await railLink(await visit(`${other.base}/webhooks`)).count()).toBe(1);
      const back = await visit(`${base}/setup`);
      await back.getByRole('button', { name: 'Show in the menu' }).click();
      await railLink(back).waitFor();
    });
  });

  describe('the documents', () => {
    it('are reached from the menu, and lead to each other', async () => {
      const page = await dashboard.visit('/documents');
      expect(await page.getByRole('link', { name: 'Try the API' }).getAttribute('href')).toBe('/swagger');
      await page.getByRole('link', { name: 'Quickstart' }).click();
      await page.waitForURL('**/docs/quickstart');
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByRole('navigation', { name: 'Documents' }).getByRole('link', { name: 'Findings' }).click();
      await page.waitForURL('**/docs/findings');
      await page.getByRole('link', { name: 'The pixel' }).first().click();
      await page.waitForURL('**/docs/pixel');
    });

    it('have the headings that their links name, insert no HTML, and show staff documents to staff alone', async () => {
      const page = await dashboard.open({ role: 'admin' });
      const ids = new Map<string, Set<string>>();
      const links: { from: string; to: string }[] = [];
      for (const { name, title } of DOCUMENTS) {
        const answer = await page.request.get(`/docs/${name}`);
        const html = (await answer.text()).split('<main')[1]!.split('</main>')[0]!;
        expect([name, answer.status(), html.includes('<h1'), title.length > 3]).toEqual([name, 200, true, true]);
        expect(html).not.toMatch(/<script|<!-- ?(not run|Generated)|&lt;(?:sup|br|img)/);
        ids.set(`/docs/${name}`, new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)));
        for (const [, to = ''] of html.matchAll(/ href="([^"]+)"/g)) links.push({ from: `/docs/${name}`, to });
      }
      expect(links.length).toBeGreaterThan(50);
      const dead = links.filter(({ from, to }) => {
        if (/^https?:|^\/openapi\//.test(to)) return false;
        const [path, id] = to.split('#');
        const known = ids.get(path || from);
        return !known || (id !== undefined && !known.has(decodeURIComponent(id)));
      });
      expect(dead).toEqual([]);

      const { url } = dashboard.product;
      for (const { name, isPublic } of DOCUMENTS) {
        const answer = await fetch(`${url}/docs/${name}`, { redirect: 'manual' });
        expect([name, answer.status]).toEqual([name, isPublic ? 200 : 307]);
        if (isPublic) expect(await answer.text()).not.toContain('/docs/detection');
        else expect(answer.headers.get('location')).toBe(`/sign-in?next=${encodeURIComponent(`/docs/${name}`)}`);
      }
      expect((await fetch(`${url}/docs/operating`)).status).toBe(404);
      expect((await fetch(`${url}/docs/..%2Fpackage.json`)).status).toBe(404);
    });
  });
}
