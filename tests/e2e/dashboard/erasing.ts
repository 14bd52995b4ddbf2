import { describe, expect, it } from 'vitest';
import { correlated, started } from '../../support/facts';
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

    it('asks for the id to be typed, gives a receipt, and leaves the session without the person', async () => {
      const page = await dashboard.visit(`/users/${ID}`, { role: 'admin' });
      await page.getByRole('button', { name: 'Erase this user' }).click();
      const question = page.getByRole('alertdialog', { name: `Erase ${NAME}?` });
      const confirm = question.getByRole('button', { name: 'Erase user' });
      expect(await confirm.isDisabled()).toBe(true);
      await question.getByLabel(/^Type/).fill(ID.slice(1));
      expect(await confirm.isDisabled()).toBe(true);
      await question.getByLabel(/^Type/).fill(ID);
      await confirm.click();
      await page.getByRole('status').getByText('The user is erased.').waitFor();
      const read = async () => (await dashboard.api('GET', '/v1/sessions/of-gone')).body.data;
      await expect.poll(async () => (await read()).userName).toBe('Erased user');
      expect((await dashboard.api('GET', `/v1/users/${ID}`)).status).toBe(404);
      const after = await dashboard.visit('/settings?tab=audit', { role: 'admin' });
      await after
        .getByText(/^Erasure of a user requested/)
        .first()
        .waitFor();
      expect(await after.content()).not.toContain(ID);
    });
  });
}
