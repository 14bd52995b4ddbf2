import type { Browser } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { readBeacon } from '../../../server/detection/batch';
import { type PixelHost, watchFaults } from '../../support/pixel-host';

// Pages of learning platforms. They are made by us after the public markup of these systems.

interface LmsPage {
  /** What comes before the rest of the page. The tag may run before it. */
  head: string;
  body: string;
}

const canvasPage = (environment: object): LmsPage => ({
  head: `<script>ENV = ${JSON.stringify(environment)};</script>`,
  body: `<form id="submit_online_text_entry_form">
    <textarea name="submission[body]" id="submission_body"></textarea>
    <textarea name="submission[comment]" id="submission_comment" class="submission_comment_textarea"></textarea></form>
    <div class="display_question question essay_question" id="question_7"><div class="answers">
    <textarea name="question_7" class="question_input"></textarea></div></div>
    <div class="display_question question short_answer_question" id="question_8"><div class="answers">
    <input type="text" name="question_8" class="question_input"></div></div>`,
});

const moodlePage = (config: object, links = '', post = ''): LmsPage => ({
  head: `<script>var M = {}; M.yui = {}; M.cfg = ${JSON.stringify({ wwwroot: 'https://moodle.example.edu', ...config })};</script>`,
  body: `<nav class="navbar"><div class="usermenu"><div class="dropdown show"><a href="#" role="button" id="user-menu-toggle">Menu</a>
    <div id="user-action-menu" class="dropdown-menu">${links}</div></div></div></nav>
    <p class="usermenu">${post}</p>
    <a class="author" href="https://moodle.example.edu/user/profile.php?id=99">Somebody else</a>
    <div class="que essay"><div class="answer"><textarea class="qtype_essay_plain qtype_essay_response" name="q1:1_answer"></textarea></div></div>
    <div class="que essay"><div class="answer"><div class="qtype_essay_editor qtype_essay_response"><div class="editor_atto_content_wrap">
    <div id="q1:2_answer_ideditable" contenteditable="true" role="textbox" class="editor_atto_content"></div></div></div></div></div>
    <div id="fitem_id_onlinetext_editor"><textarea id="id_onlinetext_editor" name="onlinetext_editor[text]"></textarea></div>
    <input type="search" name="search">`,
});
const profileLink = (id: number) =>
  `<a href="https://moodle.example.edu/user/profile.php?id=${id}" class="dropdown-item" role="menuitem">Profile</a>`;

const openEdxPage = (metadata: string): LmsPage => ({
  head: `<script type="application/json" id="user-metadata">\n    ${metadata}\n</script>`,
  body: '<main id="main">Unit</main>',
});

export function registerLmsRules(host: PixelHost, browser: () => Browser) {
  const openPage = async ({ head, body }: LmsPage, attributes = '', path = '/courses/42') => {
    const page = await host.openTimedPage(browser());
    const listFaults = await watchFaults(page);
    await page.goto(host.setPage(path, host.tag(attributes) + head + body));
    await page.waitForFunction(() => window.botPixel);
    return { page, listFaults };
  };
  const readUser = async (lms: LmsPage, attributes = '') => {
    const { page, listFaults } = await openPage(lms, attributes);
    await host.runClock(page);
    const [first] = await host.waitForBatches(1);
    expect(await listFaults()).toEqual([]);
    return first!.u;
  };

  describe('who is signed in on a page of a learning platform', () => {
    it.each<[string, LmsPage, string | null]>([
      ['Canvas says', canvasPage({ current_user_id: '4711', current_user: { id: '4711' } }), '4711'],
      ['Canvas says with an id of another shard', canvasPage({ current_user_id: '10~77' }), '10~77'],
      ['Canvas says to nobody', canvasPage({ current_user_id: null, current_user: {} }), null],
      ['Moodle says', moodlePage({ userId: 5, courseId: 3 }, profileLink(5)), '5'],
      ['Moodle says with a theme without links', moodlePage({ userId: 5 }), '5'],
      ['an older Moodle links to', moodlePage({ sesskey: 'x' }, profileLink(6)), '6'],
      ['an older Moodle says to nobody', moodlePage({ sesskey: 'x' }), null],
      ['an older Moodle says to nobody, but a post links to', moodlePage({}, '', profileLink(7)), null],
      ['Moodle says to nobody', moodlePage({ userId: 0 }), null],
      ['Moodle says of a guest', moodlePage({ userId: 1 }), null],
      ['Open edX says', openEdxPage('{"username": "ada", "user_id": 12, "course_id": "course-v1:x+y+z"}'), '12'],
      ['Open edX says to nobody', openEdxPage('{"username": null, "user_id": null}'), null],
      ['a page with other JSON says', openEdxPage('none'), null],
      ['somebody has written into a post', { head: '', body: '<p id="user-metadata">{"user_id": 12}</p>' }, null],
      [
        'a post names like Canvas',
        { head: '', body: '<a id="ENV"></a><a id="ENV" name="current_user_id" href="x:7">' },
        null,
      ],
      [
        'a post names like Moodle',
        { head: '', body: '<form id="M"></form><form id="M" name="cfg"><input id="userId">' },
        null,
      ],
      ['Open edX says next to a post', { ...openEdxPage('{"user_id": 12}'), body: '<img name="querySelector">' }, '12'],
    ])('is whom %s', async (_, lms, id) => {
      expect(await readUser(lms)).toEqual(id === null ? undefined : { id, lms: 1 });
    });

    it('is whom the customer names, also nobody', async () => {
      const canvas = canvasPage({ current_user_id: '4711' });
      expect(await readUser(canvas, 'data-user-id="u-1"')).toEqual({ id: 'u-1' });
      host.received = [];
      const nobody = { ...canvas, head: `<script>botPixel = [['identify', {}]];</script>${canvas.head}` };
      expect((await readUser(nobody))?.id).toBeUndefined();
    });

    it('is somebody without an id, if the customer names them by one that is too long', async () => {
      const id = 'x'.repeat(257);
      const canvas = canvasPage({ current_user_id: '4711' });
      const pushed = { ...canvas, head: `<script>botPixel = [['identify', { id: '${id}' }]];</script>${canvas.head}` };
      for (const user of [await readUser(canvas, `data-user-id="${id}"`), await readUser(pushed)]) {
        expect(user?.id).not.toContain('x');
        expect(readBeacon({ ...host.beacons[0], u: user })).toMatchObject({ u: null });
      }
    });

    it('is told again when another page of the application shows another one, and only then', async () => {
      const { page } = await openPage(canvasPage({ current_user_id: '1' }));
      await host.runClock(page);
      await host.waitForBatches(1);
      const change = async (path: string, id: string) => {
        await page.evaluate(
          ([to, user]) => {
            (window as { ENV?: unknown }).ENV = { current_user_id: user };
            history.pushState({}, '', to);
          },
          [path, id],
        );
        const { length } = host.beacons;
        await page.mouse.click(5, 5);
        await host.runClock(page);
        await host.waitForBatches(length + 1);
      };
      await change('/courses/43', '1');
      await change('/courses/44', '2');
      const told = host.beacons.flatMap(({ u }) => (u ? [u.id] : []));
      expect(told).toEqual(['1', '2']);
    });

    it('is not read before consent', async () => {
      const head = `<script>reads = 0; ENV = { get current_user_id() { reads++; return '1'; } };</script>`;
      const { page } = await openPage({ head, body: '' }, 'data-consent="wait"');
      const countReads = () => page.evaluate(() => (window as unknown as { reads: number }).reads);
      await page.mouse.click(5, 5);
      await host.runClock(page, 10_000);
      expect([await countReads(), host.received]).toEqual([0, []]);
      await page.evaluate(() => window.botPixel!.push(['consent', true]));
      await host.runClock(page);
      expect((await host.waitForBatches(1))[0]!.u).toEqual({ id: '1', lms: 1 });
    });

    it.each([
      ['getters that throw', `ENV = { get current_user_id() { throw new Error('of the page'); } };`],
      ['symbols', `ENV = { current_user_id: Symbol('x') }; M = { cfg: { userId: Symbol('y') } };`],
      ['objects', `ENV = { current_user_id: { toString() { throw new Error('of the page'); } } };`],
      ['a text that is too long', `ENV = { current_user_id: 'x'.repeat(1e6) };`],
      ['other libraries of these names', `ENV = 'production'; M = { toast() {} };`],
    ])('is nobody where a page has %s, and its batch is taken', async (_, script) => {
      const user = await readUser({ head: `<script>${script}</script>`, body: '' });
      // The collector names nobody with such an id.
      expect(user?.id.length ?? 257).toBe(257);
    });
  });

  describe('the fields of a learning platform in which learners write', () => {
    it.each<[string, LmsPage, string[], string[]]>([
      [
        'Canvas',
        canvasPage({}),
        ['#submission_body', '#question_7 textarea'],
        ['#submission_comment', '#question_8 input'],
      ],
      [
        'Moodle',
        moodlePage({}),
        ['textarea.qtype_essay_response', '.editor_atto_content', '#id_onlinetext_editor'],
        ['[type=search]'],
      ],
    ])('are known: %s', async (_, lms, writing, others) => {
      const { page } = await openPage(lms);
      for (const selector of [...writing, ...others]) {
        await page.locator(selector).click();
        await page.keyboard.type('a');
      }
      await host.runClock(page);
      await host.waitForEvent('Input', writing.length + others.length);
      const fields = host.eventsOf('Input').map(({ field }) => field);
      const written = host.eventsOf('Writing').map(({ field }) => field);
      expect(written).toEqual(fields.slice(0, writing.length));
      // A slow machine may send more than one batch. Each that names documents names this one, once.
      const named = host.beacons.map(({ w }) => w).filter(Boolean);
      expect(named.length).toBeGreaterThan(0);
      expect(named).toEqual(named.map(() => ['']));
    });
  });
}
