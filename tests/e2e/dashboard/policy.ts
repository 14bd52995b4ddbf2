import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { settle } from '../../support/dashboard';
import { expectFileHeaders, expectPageHeaders, OPEN_PAGES } from '../../support/page-headers';
import { dashboard, openSeparatePage, receiver } from './shared-dashboard';

// Checks the Content-Security-Policy of pages in a real browser. pages.ts checks that no page violates
// it by itself: there, a violation that the browser logs is an error like any other.

const REFUSED = /Content Security Policy/;

const isMarked = (page: Page) => page.evaluate(() => 'injected' in window);

/** The policy of pages. */
export function registerPolicyTests(): void {
  describe('a page of the self-hosted server', () => {
    it.each([...OPEN_PAGES, ['/demo', 200] as const])(
      '%s (%i) has the headers of pages, its own nonce and a request id',
      async (path, status) => {
        const answers = await expectPageHeaders(dashboard.product.url, path, status);
        if (path.startsWith('/api/')) return;
        const ids = answers.map((headers) => headers.get('x-request-id'));
        for (const id of ids) expect(id).toMatch(/^req_\w+$/);
        expect(new Set(ids).size).toBe(answers.length);
      },
    );

    it('loads files that say what they are', () => expectFileHeaders(dashboard.product.url));
  });

  describe('a page with schemas in the browser', () => {
    it('does not try to evaluate text, which browsers report although it is caught', async () => {
      const page = await openSeparatePage('analyst');
      const violations: string[] = [];
      await page.exposeFunction('noteViolation', (directive: string) => violations.push(directive));
      await page.addInitScript(() => {
        const { noteViolation } = window as unknown as { noteViolation(directive: string): void };
        document.addEventListener('securitypolicyviolation', (event) => noteViolation(event.effectiveDirective));
      });
      await page.goto(`${dashboard.base}/webhooks/new`);
      await settle(page);
      // Its schemas are there, and judge.
      await page.getByLabel('Name').fill('x'.repeat(101));
      await page.getByLabel('URL').focus();
      await page.getByText('must have 1 to 100 characters').waitFor();
      expect(violations).toEqual([]);
    });
  });

  describe('a script injected into a page', () => {
    it('does not run from the markup, and the browser reports the violation', async () => {
      const logged: string[] = [];
      const page = await dashboard.open({ role: 'admin', provokes: REFUSED });
      page.on('console', (message) => logged.push(message.text()));
      // Inserted into the server's response, so that it comes with the page's policy.
      await page.route('**/sessions', async (route) => {
        const response = await route.fetch();
        const body = (await response.text()).replace('</body>', '<script>window.injected = true</script></body>');
        await route.fulfill({ response, body });
      });
      await page.goto(`${dashboard.base}/sessions`);
      await settle(page);
      expect(await isMarked(page)).toBe(false);
      expect(logged.some((text) => REFUSED.test(text))).toBe(true);
    });

    it('does not run from an attribute, from a URL, or through eval, and cannot send anything to another host', async () => {
      const page = await dashboard.open({ role: 'admin', provokes: REFUSED });
      await page.goto(`${dashboard.base}/sessions`);
      await settle(page);
      await page.evaluate(() => {
        document.body.insertAdjacentHTML('beforeend', '<img src="data:,no" onerror="window.injected = true">');
        document.body.insertAdjacentHTML('beforeend', '<a id="link" href="javascript:window.injected = true">x</a>');
        document.getElementById('link')!.click();
        setTimeout('window.injected = true', 0);
      });
      await page.waitForTimeout(300);
      expect(await isMarked(page)).toBe(false);
      // Without the policy nothing else would keep the browser from sending this.
      const outcome = await page.evaluate(
        (url) =>
          fetch(url, { mode: 'no-cors' }).then(
            () => 'sent',
            () => 'refused',
          ),
        `${receiver.url}/steal`,
      );
      expect(outcome).toBe('refused');
    });
  });

  it('/swagger has the theme of the browser', async () => {
    const page = await dashboard.open({ theme: 'dark' });
    await page.goto(`${dashboard.product.url}/swagger`);
    const title = page.getByRole('heading', { name: 'Bot Detection API' });
    const readColors = () =>
      title.evaluate((element) => [
        getComputedStyle(document.documentElement).backgroundColor,
        getComputedStyle(element).color,
      ]);
    const dark = await readColors();
    await page.emulateMedia({ colorScheme: 'light' });
    await expect.poll(readColors).not.toEqual(dark);
    const brightness = (color: string) => Number(/\d+/.exec(color));
    const light = await readColors();
    expect(brightness(dark[1]!)).toBeGreaterThan(brightness(light[1]!));
  });

  // The others, which pages.ts and the test before do not load.
  it.each(['/', '/nothing'])('%s complies with its own policy', async (path) => {
    const page = await dashboard.open({ provokes: /status of 404/ });
    await page.goto(dashboard.product.url + path);
    await page.waitForLoadState('networkidle');
    expect((await page.locator('body').textContent())?.length).toBeGreaterThan(10);
  });
}
