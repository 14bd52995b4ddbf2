import { describe, expect, it } from 'vitest';
import { intercept } from '../../support/dashboard';
import { correlated, started } from '../../support/facts';
import { createGate } from '../../support/gate';
import { dashboard } from './shared-dashboard';

const ID = 'gone-4711';
const NAME = 'Grace Gone';

/** The erasure of a user by staff. */
export function registerErasingTests(): void {
  describe('the erasure of a user', () => {
    it('is for admins', async () => {
      const facts = [started('of-gone'), correlated('of-gone', ID, { user: { id: ID, name: NAME } })];
      expect((await dashboard.product.ingest(dashboard.integrationId, facts)).status).toBe(200);
      const page = await dashboard.visit(`/users/${ID}`, { role: 'viewer' });
      expect(await page.getByRole('button', { name: 'Erase this user' }).isDisabled()).toBe(true);
      await page.getByText('only admins may erase a user').waitFor();
    });

    it('shows all spaces of the id that must be typed', async () => {
      const id = 'gone  twice';
      const facts = [started('of-spaces'), correlated('of-spaces', id)];
      expect((await dashboard.product.ingest(dashboard.integrationId, facts)).status).toBe(200);
      const page = await dashboard.visit(`/users/${encodeURIComponent(id)}`, { role: 'admin' });
      await page.getByRole('button', { name: 'Erase this user' }).click();
      expect(await page.locator('label', { hasText: 'to confirm' }).innerText()).toBe(`Type “${id}” to confirm`);
    });

    it('is refused at once without the network, and never sent after it was cancelled', async ({ onTestFinished }) => {
      const page = await dashboard.visit(`/users/${ID}`, { role: 'admin', provokes: /ERR_INTERNET_DISCONNECTED/ });
      onTestFinished(() => page.context().setOffline(false));
      await page.getByRole('button', { name: 'Erase this user' }).click();
      const question = page.getByRole('alertdialog', { name: `Erase ${NAME}?` });
      await question.getByLabel(/^Type/).fill(ID);
      await page.context().setOffline(true);
      await question.getByRole('button', { name: 'Erase user' }).click();
      await question.getByRole('alert').getByText('The server could not be reached.').waitFor();
      await question.getByRole('button', { name: 'Cancel' }).click();
      await question.waitFor({ state: 'detached' });
      const calls: string[] = [];
      page.on('request', (request) => calls.push(request.url()));
      await page.context().setOffline(false);
      // What waits for the network is sent before anything else.
      await page.getByRole('link', { name: 'Users', exact: true }).first().click();
      await page.waitForURL(/\/users$/);
      await page.waitForLoadState('networkidle');
      expect(calls.filter((url) => url.includes('users.erase'))).toEqual([]);
      expect((await dashboard.api('GET', `/v1/users/${ID}/sessions`)).status).toBe(200);
    });

    it('cannot be cancelled any more while it is sent', async () => {
      const page = await dashboard.visit(`/users/${ID}`, { role: 'admin', provokes: /status of 503/ });
      await page.getByRole('button', { name: 'Erase this user' }).click();
      const question = page.getByRole('alertdialog', { name: `Erase ${NAME}?` });
      await question.getByLabel(/^Type/).fill(ID);
      const [sent, answer] = [createGate(), createGate()];
      await intercept(page, '**/api/trpc/users.erase', async (route) => {
        sent.open();
        await answer.opened;
        const error = { message: 'Busy', code: -32603, data: { code: 'SERVICE_UNAVAILABLE', httpStatus: 503 } };
        await route.fulfill({ status: 503, contentType: 'application/json', body: JSON.stringify({ error }) });
      });
      await question.getByRole('button', { name: 'Erase user' }).click();
      await sent.opened;
      expect(await question.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true);
      await page.keyboard.press('Escape');
      answer.open();
      await question.getByRole('alert').getByText('Busy').waitFor();
      await question.getByRole('button', { name: 'Cancel' }).click();
      await question.waitFor({ state: 'detached' });
    });

    it('asks for the id to be typed, gives a receipt, and leaves the session without the person', async () => {
      const page = await dashboard.visit(`/users/${ID}`, { role: 'admin' });
      const search = async () => {
        await page.keyboard.press('/');
        await page.keyboard.type(NAME);
        return page.getByRole('dialog', { name: 'Search everything' });
      };
      await (await search()).getByRole('option', { name: NAME }).first().waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Erase this user' }).click();
      const question = page.getByRole('alertdialog', { name: `Erase ${NAME}?` });
      const confirm = question.getByRole('button', { name: 'Erase user' });
      expect(await confirm.isDisabled()).toBe(true);
      await question.getByLabel(/^Type/).fill(ID.slice(1));
      expect(await confirm.isDisabled()).toBe(true);
      await question.getByLabel(/^Type/).fill(ID);
      await confirm.click();
      const receipt = page.getByRole('status').filter({ hasText: 'The user is erased.' });
      await receipt.waitFor();
      expect(await receipt.innerText()).toMatch(/ refused until \d+ \w{3} \d{4}, [\d:]{8} UTC\.$/);
      // What was found before is not shown again.
      const found = await search();
      await found.getByText(/^Nothing/).waitFor();
      expect(await found.getByRole('option', { name: NAME }).count()).toBe(0);
      await page.keyboard.press('Escape');
      const read = async () => (await dashboard.api('GET', '/v1/sessions/of-gone')).body.data;
      await expect.poll(async () => (await read()).userName).toBe('Erased user');
      expect((await dashboard.api('GET', `/v1/users/${ID}`)).status).toBe(404);
      const again = await dashboard.visit(`/users/${(await read()).userId}`, { role: 'admin' });
      await again.getByRole('heading', { name: 'Anomalies' }).waitFor();
      expect(await again.getByRole('button', { name: 'Erase this user' }).count()).toBe(0);
      const after = await dashboard.visit('/settings?tab=audit', { role: 'admin' });
      await after
        .getByText(/^Erasure of a user requested/)
        .first()
        .waitFor();
      expect(await after.content()).not.toContain(ID);
    });
  });
}
