import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEVICE_TYPES } from '../../contract/sessions';
import { BROWSERS, describeDevice, isOtherKind, readUserAgent } from '../../server/domain/user-agents';
import { CHROME } from '../support/facts';
import { character } from '../support/texts';
import { FIREFOX, IPHONE, OLD_CHROME } from '../support/visits';

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const SAFARI = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';

describe('readUserAgent', () => {
  it.each([
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/142.0.0.0 Safari/537.36`,
      'Chrome 142 on Windows',
      'Chrome',
      'desktop',
    ],
    [
      `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${SAFARI} Version/18.4 Safari/605.1.15`,
      'Safari 18 on macOS',
      'Safari',
      'desktop',
    ],
    [
      'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0',
      'Firefox 143 on Linux',
      'Firefox',
      'desktop',
    ],
    [
      `Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) ${SAFARI} Version/18.5 Mobile/15E148 Safari/604.1`,
      'Safari 18 on iOS',
      'Safari',
      'mobile',
    ],
    [
      `Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) ${SAFARI} Version/18.5 Mobile/15E148 Safari/604.1`,
      'Safari 18 on iOS',
      'Safari',
      'tablet',
    ],
    [
      `Mozilla/5.0 (Linux; Android 15; Pixel 9) ${WEBKIT} Chrome/142.0.0.0 Mobile Safari/537.36`,
      'Chrome 142 on Android',
      'Chrome',
      'mobile',
    ],
    [
      `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0`,
      'Microsoft Edge 142 on Windows',
      'Microsoft Edge',
      'desktop',
    ],
  ])('reads %s', (header, summary, browser, deviceType) => {
    expect(readUserAgent(header)).toEqual({ summary, browser, deviceType });
  });

  it.each(['', ' ', '\t'])('describes an empty header (%j) as unknown, on a desktop', (header) => {
    expect(readUserAgent(header)).toEqual({ summary: 'Unknown', browser: 'Unknown', deviceType: 'desktop' });
  });

  it('names a bot that names itself', () => {
    expect(readUserAgent('Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)').summary).toMatch(
      /bot/i,
    );
    expect(readUserAgent('curl/8.5.0').summary).not.toBe('');
    expect(readUserAgent('python-requests/2.32').summary).not.toBe('');
  });

  it.each([
    'MyBrowser/1.0 (x)',
    '__proto__/1 (x)',
    'constructor/1 (x)',
    `${'x'.repeat(2_000)}/1 (x)`,
    `Chrome/${'9'.repeat(2_000)}.1 Safari/1`,
    `${'😀'.repeat(1_000)}/1 (x)`,
  ])('bounds what a visitor invents: %s', (header) => {
    const { summary, browser } = readUserAgent(header);
    expect(browser).toBe(header.startsWith('Chrome') ? 'Chrome' : 'Other');
    expect([...summary].length).toBeLessThanOrEqual(128);
    expect(summary.isWellFormed()).toBe(true);
  });

  it('takes milliseconds for the longest header, whatever it repeats', () => {
    const pieces = [
      'slackbot-',
      'chrome/',
      'version/1',
      '/',
      '(',
      '; ',
      'android ',
      ' like gecko',
      'mobile ',
      ' ',
      '1.',
    ];
    for (const piece of pieces) {
      const header = piece.repeat(2_048 / piece.length);
      const from = performance.now();
      readUserAgent(header);
      expect([piece, performance.now() - from < 250]).toEqual([piece, true]);
    }
  });

  it('keeps a result only until 2,000 others came, so that invented headers take bounded memory', () => {
    const [first, second] = [readUserAgent('first/1'), readUserAgent('second/1')];
    for (let n = 0; n < 1_998; n++) readUserAgent(`invented/${n}`);
    expect(readUserAgent('first/1')).toBe(first);
    for (let n = 0; n < 2; n++) readUserAgent(`further/${n}`);
    for (const [header, kept] of Object.entries({ 'first/1': first, 'second/1': second })) {
      expect(readUserAgent(header)).not.toBe(kept);
      expect(readUserAgent(header)).toEqual(kept);
    }
  });

  it('gives the same result again, even after thousands of others', () => {
    const header = `Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} HeadlessChrome/141.0.0.0 Safari/537.36`;
    const first = readUserAgent(header);
    for (let n = 0; n < 2_500; n++) readUserAgent(`agent/${n}`);
    expect(readUserAgent(header)).toEqual(first);
    expect(first.deviceType).toBe('desktop');
  });

  it('never throws, and always has a summary, a browser and a known device type', () => {
    const words = fc.constantFrom(
      'Mozilla/5.0',
      '(',
      ')',
      ';',
      'Chrome/',
      'Mobile',
      'iPad',
      'Windows NT',
      '__proto__',
      '1.2',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: character, maxLength: 200 }),
          fc.array(words).map((w) => w.join(' ')),
        ),
        (header) => {
          const { summary, browser, deviceType } = readUserAgent(header);
          expect(summary).not.toBe('');
          expect(BROWSERS).toContain(browser);
          expect(DEVICE_TYPES).toContain(deviceType);
        },
      ),
    );
  });
});

describe('the description of a device', () => {
  const readDevice = (header: string) => {
    const { summary: userAgentSummary, ...rest } = readUserAgent(header);
    return { userAgentSummary, ...rest };
  };

  it.each([
    [CHROME, 'Chrome on Windows (desktop)'],
    [OLD_CHROME, 'Chrome on Windows (desktop)'],
    [IPHONE, 'Safari on iOS (mobile)'],
    [FIREFOX, 'Firefox on Linux (desktop)'],
    ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 'Googlebot on Unknown (desktop)'],
    ['', 'Unknown on Unknown (desktop)'],
  ])('%s', (header, expected) => {
    expect(describeDevice(readDevice(header))).toBe(expected);
  });

  it.each([
    [CHROME, IPHONE, true],
    [CHROME, OLD_CHROME, false],
    // An application may be on any device.
    [CHROME, 'MyBrowser/1.0', false],
    ['', IPHONE, false],
  ])('tells whether another is of another kind: %s, %s: %s', (one, other, expected) => {
    expect(isOtherKind(readDevice(one), readDevice(other))).toBe(expected);
  });
});
