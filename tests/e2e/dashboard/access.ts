import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openDatabase } from '../../../db/client';
import { markReceiving } from '../../../server/domain/sites';
import { intercept, settle } from '../../support/dashboard';
import { closed, correlated, happened, scored, started } from '../../support/facts';
import { dashboard, settings } from './shared-dashboard';

const KEY = /aik_v1_[\w-]{40}/;
const SECRET = /idsec_[\w-]{43}/;

const readVerdict = async (id: string) =>
  (await dashboard.api('GET', `/v1/sessions/${id}`)).body.data.label?.verdict ?? null;
const readStats = (key: string) =>
  fetch(`${dashboard.product.url}/v1/stats`, { headers: { authorization: `Bearer ${key}` } });

/** Sign-in, roles, keys and sites. */
export function registerAccessTests(): void {
  describe('sign-in', () => {
    it('shows an error for a wrong password, and leads back to the requested address', async () => {
      const asked = `${dashboard.base}/sessions?riskLevel=bot`;
      const page = await dashboard.open({ provokes: /status of 401/ });
      await page.goto(asked);
      expect(new URL(page.url()).pathname).toBe('/sign-in');
      await settle(page);
      await page.getByLabel('Email').fill(dashboard.demo.email);
      await page.getByLabel('Password').fill('a wrong password');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').getByText('Email or password is wrong.').waitFor();
      await page.getByLabel('Password').fill(dashboard.demo.password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL(asked);
      await page.getByRole('heading', { name: 'Sessions', level: 1 }).waitFor();
    });

    it('says so if the browser does not keep the session', async () => {
      const page = await dashboard.open({ provokes: /status of 401/ });
      await page.goto('/sign-in');
      await settle(page);
      // As with a Secure cookie on plain http, or with cookies switched off.
      await intercept(page, '**/api/auth/sign-in', async (route) => {
        const response = await route.fetch();
        const { 'set-cookie': _dropped, ...headers } = response.headers();
        // Before the page has the answer: the fetch has kept the cookie, and the page asks at once whether it is signed in.
        await page.context().clearCookies();
        await route.fulfill({ response, headers });
      });
      await page.getByLabel('Email').fill(dashboard.demo.email);
      await page.getByLabel('Password').fill(dashboard.demo.password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page
        .getByRole('alert')
        .getByText('The browser did not keep the session. Open the https address, and allow its cookies.')
        .waitFor();
    });

    it('leads only to dashboard pages', async () => {
      const page = await dashboard.open();
      await page.goto('/sign-in?next=https://evil.example.com/');
      await settle(page);
      await page.getByLabel('Email').fill(dashboard.demo.email);
      await page.getByLabel('Password').fill(dashboard.demo.password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL(`${dashboard.base}/overview`);
    });

    it('leads on if the address has line breaks', async () => {
      const page = await dashboard.open({ role: 'admin' });
      for (const odd of ['%0d%0aSet-Cookie:x', '%E2%80%A8', '%F0%9F%98%80']) {
        const answer = await page.request.get(`/sign-in?next=/dashboard/${odd}`, { maxRedirects: 0 });
        expect([odd, answer.status(), answer.headers().location]).toEqual([
          odd,
          307,
          expect.stringMatching(/^\/dashboard\/[ -~]+$/),
        ]);
      }
    });

    it('ends on the server with sign-out, and goes on if the server could not end it', async () => {
      const page = await dashboard.open({ provokes: /status of 503/ });
      const account = { headers: { origin: dashboard.product.url }, data: dashboard.demo };
      expect((await page.request.post('/api/auth/sign-in', account)).status()).toBe(200);
      await page.goto(`${dashboard.base}/overview`);
      await settle(page);
      const before = await page.context().cookies();
      const signOut = async () => {
        await page.getByRole('button', { name: 'account' }).click();
        await page.getByRole('button', { name: 'Sign out' }).click();
      };
      let calls = 0;
      await intercept(page, '**/api/auth/sign-out', (route) =>
        ++calls === 1 ? route.fulfill({ status: 503 }) : route.continue(),
      );
      await signOut();
      await page.getByText('You are still signed in: the server could not be reached.').waitFor();
      await page.keyboard.press('Escape');
      await signOut();
      await page.waitForURL(`${dashboard.product.url}/sign-in`);
      // The old cookie no longer works.
      await page.context().addCookies(before);
      expect((await dashboard.ask(page.context(), 'staff.me')).status()).toBe(401);
      await page.goto(`${dashboard.base}/overview`);
      expect(new URL(page.url()).pathname).toBe('/sign-in');
    });
  });

  describe('what visitors invent', () => {
    it('does not make the overview grow', async () => {
      const { product, integrationId } = dashboard;
      const facts = Array.from({ length: 400 }, (_, n) =>
        started(`invented-${n}`, { userAgent: `visitor-${n}-${'x'.repeat(2_000)}/1 (x)` }),
      );
      const page = await dashboard.open({ role: 'admin' });
      const measure = async () =>
        (await (await page.request.get(`${dashboard.base}/overview?period=24h`)).text()).length;
      const before = await measure();
      expect((await product.ingest(integrationId, facts)).status).toBe(200);
      expect(await measure()).toBeLessThan(before + 5_000);
      await page.goto(`${dashboard.base}/overview?period=24h`);
      await settle(page);
      await page.getByText('Other', { exact: true }).first().waitFor();
    });

    it('may be named like a property of every object', async () => {
      const { product, integrationId, base } = dashboard;
      const flags = ['constructor', '__proto__', 'toString', 'webdriver'];
      const facts = [
        started('odd', { deviceFingerprint: '__proto__', country: 'constructor', userAgent: 'toString/1 (x)' }),
        happened('odd', [{ sequence: 1, metadata: { constructor: 1, toString: { hasOwnProperty: 2 } } }]),
        correlated('odd', '__proto__', { user: { id: '__proto__', name: 'constructor' } }),
        closed('odd'),
        scored('odd', 0.95, { detectionFlags: flags }),
      ];
      expect((await product.ingest(integrationId, facts)).status).toBe(200);
      const page = await dashboard.open({ role: 'admin' });
      for (const path of [
        '/sessions',
        '/sessions?selected=odd',
        '/sessions/odd',
        '/users/__proto__',
        '/overview',
        '/courses',
      ]) {
        expect((await page.goto(base + path))?.status()).toBe(200);
        await settle(page);
        if (path === '/sessions/odd')
          for (const flag of ['constructor', 'toString', '  proto  '])
            await page.getByRole('list', { name: 'What was noticed' }).getByText(flag).waitFor();
      }
    });
  });

  describe('an address with what no page can show', () => {
    it('shows a mark in its place', async () => {
      // The list says that the filter is refused.
      const page = await dashboard.open({ role: 'viewer', provokes: /status of 400/ });
      for (const list of ['sessions', 'anomalies']) {
        await page.goto(`${dashboard.base}/${list}?userId=%00`);
        await settle(page);
        await page.getByRole('button', { name: /^User(?: id)?: \ufffd/ }).waitFor();
      }
    });
  });

  describe('what an integration does not have', () => {
    it('is not found: a session of another integration, and an unknown integration', async () => {
      const page = await dashboard.open({ role: 'admin', provokes: /status of 404/ });
      const name = 'Other College';
      const created = await dashboard.change(page.context(), 'integrations.create', { name, plan: 'pro' });
      const { id } = (await created.json()).result.data;
      const [{ id: sessionId }] = (await dashboard.api('GET', '/v1/sessions?pageSize=1')).body.data;
      const other = `${dashboard.product.url}/dashboard/${id}`;
      expect((await page.goto(`${dashboard.base}/sessions/${sessionId}`))?.status()).toBe(200);
      for (const address of [
        `${other}/sessions/${sessionId}`,
        `${other}/users/student-1`,
        `${dashboard.base}/sessions/nothing`,
        `${dashboard.base}/webhooks/nothing`,
        `${dashboard.base}/users/${'x'.repeat(257)}`,
        `${dashboard.base}/courses/${'x'.repeat(257)}`,
        `${dashboard.product.url}/dashboard/int_unknown/overview`,
      ]) {
        expect([address, (await page.goto(address))?.status()]).toEqual([address, 404]);
        await page.getByText('Not found').first().waitFor();
      }
      const asked = await dashboard.ask(page.context(), 'sessions.get', { sessionId }, id);
      expect([asked.status(), (await asked.json()).error.data.code]).toEqual([404, 'NOT_FOUND']);
    });
  });

  describe('a viewer', () => {
    it('sees everything and finds the controls disabled', async () => {
      const [{ id }] = (await dashboard.api('GET', '/v1/sessions?pageSize=1')).body.data;
      const body = { url: 'https://hooks.example.com/viewer', eventType: 'BotDetected', enabled: false };
      const { id: webhookId } = (await dashboard.api('POST', '/v1/webhooks', body)).body.data;
      const page = await dashboard.open({ role: 'viewer' });
      for (const [path, ...names] of [
        [`/sessions?selected=${id}`, 'Bot', 'Human'],
        [`/webhooks/${webhookId}`, 'Send test', 'Edit', 'Rotate secret', 'Delete', 'Recover since …'],
        ['/webhooks/new', 'Create webhook'],
        ['/settings?tab=api-keys', 'Mint a key', /^Revoke /],
        ['/settings?tab=sites', 'Create a site', 'Save origins', 'Create identity secret'],
        ['/settings?tab=thresholds', 'Save thresholds'],
        [`/sessions/${id}`, 'Bot', 'Human'],
      ] as [string, ...(string | RegExp)[]][]) {
        await page.goto(`${dashboard.base}${path}`);
        await settle(page);
        for (const name of names) {
          const button = page.getByRole('button', { name, exact: true }).first();
          await button.waitFor();
          expect([path, name, await button.isDisabled()]).toEqual([path, name, true]);
        }
      }
      // Still on the page of the session.
      await page.keyboard.press('b');
      await page.getByText('Your role is viewer: you cannot label.').waitFor();
      expect(await readVerdict(id)).toBe(null);
    });

    it('is also refused by the procedures', async () => {
      const context = (await dashboard.open({ role: 'viewer' })).context();
      const [{ id: sessionId }] = (await dashboard.api('GET', '/v1/sessions?pageSize=1')).body.data;
      expect((await dashboard.ask(context, 'sessions.get', { sessionId })).status()).toBe(200);
      const webhook = { url: 'https://hooks.example.com/', eventType: 'BotDetected' };
      for (const [procedure, input] of [
        ['sessions.label', { sessionId, verdict: 'bot' }],
        ['webhooks.create', webhook],
        ['riskThresholds.update', { mediumAt: 10, botAt: 20 }],
        ['apiKeys.mint', { name: 'Mine' }],
        ['staff.create', { email: 'friend@example.com', password: 'twelve chars', role: 'admin' }],
        ['integrations.create', { name: 'Mine', plan: 'enterprise' }],
      ] as const) {
        const refused = await dashboard.change(context, procedure, input);
        expect([procedure, refused.status(), (await refused.json()).error.data.code]).toEqual([
          procedure,
          403,
          'FORBIDDEN',
        ]);
      }
      expect(await readVerdict(sessionId)).toBe(null);
    });
  });

  describe('an analyst', () => {
    it('labels sessions, but cannot manage keys', async () => {
      const [{ id }] = (await dashboard.api('GET', '/v1/sessions?pageSize=1')).body.data;
      const page = await dashboard.visit(`/sessions/${id}`, { role: 'analyst' });
      await page.getByRole('button', { name: 'Human', exact: true }).click();
      await expect.poll(() => readVerdict(id)).toBe('human');
      const undone = page.waitForResponse(/sessions\.undoVerdict/);
      await page.keyboard.press('u');
      await expect.poll(() => readVerdict(id)).toBe(null);
      // The next page would send again what has no answer yet.
      await (await undone).finished();
      const keys = await dashboard.visit('/settings?tab=api-keys', { role: 'analyst' });
      expect(await keys.getByRole('button', { name: 'Mint a key' }).isDisabled()).toBe(true);
      expect((await dashboard.change(keys.context(), 'apiKeys.mint', { name: 'Mine' })).status()).toBe(403);
    });
  });

  describe('the audit log', () => {
    it('shows admins who changed what, and nobody else', async () => {
      const page = await dashboard.visit('/settings?tab=api-keys');
      await dashboard.change(page.context(), 'apiKeys.mint', { name: 'Noted' });
      await page.getByRole('link', { name: 'Audit' }).click();
      const row = page.getByRole('row').filter({ hasText: 'Key Noted' });
      expect(await row.textContent()).toContain(dashboard.demo.email);
      await page.getByLabel('Changes of').selectOption('Staff accounts');
      await page.getByText(`${dashboard.demo.email} created as admin`).waitFor();
      expect(new URL(page.url()).searchParams.get('scope')).toBe('Staff');
      const other = await dashboard.open({ role: 'analyst' });
      await other.goto(`${dashboard.base}/settings?tab=audit`);
      await other.getByText('Your role is analyst: only admins may see who changed what.').waitFor();
      expect(await other.getByRole('link', { name: 'Audit' }).count()).toBe(0);
      expect((await dashboard.ask(other.context(), 'audit.list', {})).status()).toBe(403);
    });
  });

  describe('an API key', () => {
    it('is shown once, works at once, and answers 401 as soon as it is revoked', async () => {
      const page = await dashboard.visit('/settings?tab=api-keys');
      await page.getByRole('button', { name: 'Mint a key' }).click();
      await page.getByLabel('Name').fill('Nightly export');
      await page.getByRole('button', { name: 'Mint key' }).click();
      const key = (await page.getByRole('dialog').getByText(KEY).textContent())!;
      const answer = await readStats(key);
      expect(answer.status).toBe(200);
      expect((await answer.json()).data.totalSessions).toBeGreaterThan(0);
      await page.getByRole('button', { name: 'I have stored it' }).click();
      await page.getByRole('cell', { name: 'Nightly export', exact: true }).waitFor();
      for (const content of [await page.content(), await (await page.request.get(page.url())).text()])
        expect(content).not.toContain(key);

      await page.getByRole('button', { name: 'Revoke Nightly export' }).click();
      const question = page.getByRole('alertdialog');
      expect(await question.textContent()).toContain('fails with 401');
      await question.getByRole('button', { name: 'Revoke key' }).click();
      await page.getByText('Key revoked: requests with it now answer 401.').waitFor();
      const refused = await readStats(key);
      expect([refused.status, (await refused.json()).error.code]).toEqual([401, 'INVALID_API_KEY']);
      await page.getByRole('row').filter({ hasText: 'Nightly export' }).getByText('Revoked', { exact: true }).waitFor();
    });
  });

  describe('the sites', () => {
    it('take origins, make a key and a tag, and say why a page sends nothing, until something arrives', async () => {
      const page = await dashboard.visit('/settings?tab=sites', { role: 'admin', provokes: /status of 400/ });
      await page.getByRole('textbox', { name: 'Origins' }).fill('https://*.example.edu');
      await page.getByRole('button', { name: 'Save origins' }).click();
      await page.getByText('must be an exact origin without *').waitFor();
      await page.getByRole('button', { name: 'Discard' }).click();
      await page.getByText('must be an exact origin without *').waitFor({ state: 'detached' });
      await page.getByRole('textbox', { name: 'Origins' }).fill('https://lms.example.edu/start\nhttp://127.0.0.1:8080');
      await page.getByRole('button', { name: 'Save origins' }).click();
      await expect
        .poll(() => page.getByRole('textbox', { name: 'Origins' }).inputValue())
        .toBe('https://lms.example.edu\nhttp://127.0.0.1:8080');

      await page.getByRole('button', { name: 'Create a site' }).click();
      await page.getByRole('dialog').getByLabel('Name').fill('Campus LMS');
      await page.getByRole('button', { name: 'Create site' }).click();
      const row = page.getByRole('row').filter({ hasText: 'Campus LMS' });
      await row.getByText('waiting').waitFor();
      const [site] = (await (await dashboard.ask(page.context(), 'sites.list')).json()).result.data;
      const tag = await page.locator('pre').filter({ hasText: '<script' }).textContent();
      expect(tag).toContain(`data-site="${site.siteKey}"`);
      const [, src = '', integrity] = /^<script async src="([^"]+)"[^>]* integrity="([^"]+)"/.exec(tag ?? '') ?? [];
      const pixel = Buffer.from(await (await fetch(src)).arrayBuffer());
      expect(new URL(src).origin).toBe(dashboard.product.url);
      expect(integrity).toBe(`sha384-${createHash('sha384').update(pixel).digest('base64')}`);

      const check = page.locator('section').filter({ hasText: 'Why does a page send nothing?' });
      await check.getByRole('button', { name: 'Check' }).click();
      await check.getByText('Nothing received').waitFor();
      await check.getByLabel('Address of the page').fill('https://other.example.edu/courses/1');
      await check.getByRole('button', { name: 'Check' }).click();
      await check.getByText('Origin not allowed').waitFor();
      await check.getByLabel('Site key').fill('site_unknown');
      await check.getByRole('button', { name: 'Check' }).click();
      await check.getByText('No site has this key').waitFor();

      // What the collector does with the first batch. The open page notices it.
      const db = openDatabase({ url: settings.DATABASE_URL!, maxConnections: 1 });
      await markReceiving(db, site.id);
      await db.close();
      await row.getByText('just now').nth(1).waitFor();
      await row.getByRole('button', { name: 'Revoke Campus LMS' }).click();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke site' }).click();
      await row.getByText('Revoked').waitFor();
      expect(await page.locator('pre').filter({ hasText: site.siteKey }).count()).toBe(0);
    });

    it('show the identity secret once, accept unsigned users, and permit tags to ignore Global Privacy Control', async () => {
      const page = await dashboard.visit('/settings?tab=sites');
      await page.getByRole('button', { name: 'Create identity secret' }).click();
      await page.getByRole('button', { name: 'Create secret' }).click();
      const secret = (await page.getByRole('dialog').getByText(SECRET).textContent())!;
      await page.getByRole('button', { name: 'I have stored it' }).click();
      await page.getByRole('button', { name: 'Rotate identity secret' }).waitFor();
      const read = async () => (await (await dashboard.ask(page.context(), 'sites.getCollecting')).json()).result.data;
      await page.getByLabel('Accept users without a signature').click();
      await page.getByText('Anybody can make a page name any other user').waitFor();
      await expect.poll(read).toMatchObject({ hasIdentitySecret: true, acceptsUnsignedUsers: true });
      // Read in the same task, before the change is sent.
      const stays = await page
        .getByLabel('Tags may ignore Global Privacy Control')
        .evaluate((control: HTMLInputElement) => {
          control.click();
          return control.checked;
        });
      expect(stays).toBe(true);
      await expect.poll(read).toMatchObject({ hasIdentitySecret: true, mayIgnorePrivacyControl: true });
      for (const content of [await page.content(), await (await page.request.get(page.url())).text()])
        expect(content).not.toContain(secret);
    });
  });
}
