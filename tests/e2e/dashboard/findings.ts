import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { settle } from '../../support/dashboard';
import { makeVisit } from '../../support/visits';
import { dashboard } from './shared-dashboard';

/** Anomalies in words, and the switches of the rules. */
export function registerFindingTests(): void {
  describe('anomalies', () => {
    it('say in words what was seen', async () => {
      const { product, integrationId } = dashboard;
      const [device, user] = [randomUUID(), `user-${randomUUID()}`];
      for (const facts of [makeVisit({ user: 'somebody', device, ago: 50 }), makeVisit({ user, device, ago: 40 })])
        expect((await product.ingest(integrationId, facts)).status).toBe(200);
      const page = await dashboard.open({ role: 'admin' });
      const list = async () => {
        const answer = await dashboard.ask(page.context(), 'anomalies.list', { userId: user });
        return (await answer.json()).result.data.data;
      };
      await expect.poll(list).toHaveLength(1);
      const [{ id, sessionId }] = await list();
      await page.goto(`${dashboard.base}/anomalies?userId=${user}`);
      await settle(page);
      await page.getByRole('cell', { name: 'Device used by several users' }).click();
      await page
        .getByText(/ used a device that 1 other user had used within the 30 days before\.$/)
        .last()
        .waitFor();
      await page.goto(`${dashboard.base}/sessions/${sessionId}`);
      await page.getByRole('link', { name: 'Device used by several users' }).click();
      await page.waitForURL(`**/anomalies?sessionId=${sessionId}&selected=${id}`);
    });

    it('are not looked for once an admin has switched the rule off', async () => {
      const page = await dashboard.visit('/settings?tab=findings');
      const rule = page.getByRole('switch', { name: 'Device used by several users' });
      expect(await rule.isChecked()).toBe(true);
      // Read in the same task, before the change is sent.
      const stays = await rule.evaluate((control: HTMLInputElement) => {
        control.click();
        return control.checked;
      });
      expect(stays).toBe(false);
      const read = async () => {
        const answer = await dashboard.ask(page.context(), 'findingRules.list');
        const { data } = (await answer.json()).result;
        return data
          .filter(({ isEnabled }: { isEnabled: boolean }) => !isEnabled)
          .map(({ rule }: { rule: string }) => rule);
      };
      await expect.poll(read).toEqual(['SharedDevice']);
      await expect.poll(() => rule.isEnabled()).toBe(true);
      await rule.click();
      await expect.poll(read).toEqual([]);
      const audit = await dashboard.visit('/settings?tab=audit');
      await audit.getByText('Rule SharedDevice switched off').waitFor();
      await audit.getByText('Rule SharedDevice switched on').waitFor();
    });

    it('are switched by admins only', async () => {
      const page = await dashboard.visit('/settings?tab=findings', { role: 'analyst' });
      expect(await page.getByRole('switch').first().isDisabled()).toBe(true);
      await page.getByText('Your role is analyst: only admins may switch rules.').waitFor();
    });
  });
}
