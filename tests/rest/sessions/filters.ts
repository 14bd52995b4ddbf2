import { beforeAll, describe, expect, it } from 'vitest';
import { expectError } from '../../support/answers';
import { sendRaw } from '../../support/connection';
import { closed, scored, started } from '../../support/facts';
import { get, ingest, list, listIds, server, type Tenant } from './shared-server';

const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';
const IPAD =
  'Mozilla/5.0 (iPad; CPU OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';

export function registerFilterTests(): void {
  describe('the filters', () => {
    let tenant: Tenant;
    const DAY = '2026-03-10';
    const at = (time: string) => `${DAY}T${time}.000Z`;
    /** One session of each kind, newest first. */
    const ALL = ['labelled-human', 'labelled-bot', 'bot', 'medium', 'human', 'closed', 'active'];

    beforeAll(async () => {
      tenant = await server.createTenant();
      const session = (id: string, time: string, fields = {}) => started(id, { startedAt: at(time), ...fields });
      await ingest(tenant, [
        session('active', '01:00:00', { userAgent: IPHONE, pageUrl: 'https://a.example.edu/courses/1' }),
        session('closed', '02:00:00', { userAgent: IPAD, pageUrl: 'https://a.example.edu/courses/2' }),
        session('human', '03:00:00', { deviceFingerprint: 'fp-1', pageUrl: 'https://a.example.edu:8443/x' }),
        session('medium', '04:00:00', { deviceFingerprint: 'fp-2', pageUrl: 'https://b.example.edu/courses/1' }),
        session('bot', '05:00:00', { deviceFingerprint: 'fp-1', pageUrl: 'http://a.example.edu/x' }),
        session('labelled-bot', '06:00:00'),
        session('labelled-human', '07:00:00'),
        ...ALL.filter((id) => id !== 'active').map((id) => closed(id)),
        scored('human', 0.1, { detectionFlags: ['quiet'] }),
        scored('medium', 0.55, { detectionFlags: ['no-scroll', 'webdriver'] }),
        scored('bot', 0.95, { detectionFlags: ['webdriver'] }),
        scored('labelled-bot', 0.2),
        scored('labelled-human', 0.9),
      ]);
      // Labels are set directly, because facts do not label.
      await server.database.db.sql`update sessions set label = case id when 'labelled-bot' then 1 else -1 end
      where integration_id = ${tenant.id} and id in ('labelled-bot', 'labelled-human')`;
      await server.database.db.sql`update sessions set user_id = 'user-1', correlation_confidence = 0.5
      where integration_id = ${tenant.id} and id in ('medium', 'closed')`;
    });

    it('select everything by default', async () => {
      expect(await listIds(tenant)).toEqual(ALL);
    });

    it.each<[Record<string, string>, string[]]>([
      [{ status: 'Active' }, ['active']],
      [{ status: 'Closed' }, ['closed']],
      [{ status: 'Scored' }, ['labelled-human', 'labelled-bot', 'bot', 'medium', 'human']],
      [{ status: 'Failed' }, []],
      [{ minBotScore: '0.55' }, ['labelled-human', 'bot', 'medium']],
      [{ minBotScore: '0.551' }, ['labelled-human', 'bot']],
      [{ minBotScore: '5.51e-1' }, ['labelled-human', 'bot']],
      [{ minBotScore: '1e-05', maxBotScore: '1E+0' }, ['labelled-human', 'labelled-bot', 'bot', 'medium', 'human']],
      [{ maxBotScore: '0.55' }, ['labelled-bot', 'medium', 'human']],
      [{ maxBotScore: '0.549' }, ['labelled-bot', 'human']],
      [{ minBotScore: '0', maxBotScore: '1' }, ['labelled-human', 'labelled-bot', 'bot', 'medium', 'human']],
      [{ minBotScore: '0.55', maxBotScore: '0.55' }, ['medium']],
      [{ riskLevel: 'bot' }, ['labelled-bot', 'bot']],
      [{ riskLevel: 'medium' }, ['medium']],
      [{ riskLevel: 'human' }, ['labelled-human', 'human']],
      [{ detectionFlag: 'webdriver' }, ['bot', 'medium']],
      [{ detectionFlag: 'no-scroll' }, ['medium']],
      [{ detectionFlag: 'WebDriver' }, []],
      [{ detectionFlag: 'web' }, []],
      [{ detectionFlag: '{webdriver}' }, []],
      [{ detectionFlag: 'quiet","x' }, []],
      [{ label: 'bot' }, ['labelled-bot']],
      [{ label: 'human' }, ['labelled-human']],
      [{ label: 'none' }, ['bot', 'medium', 'human', 'closed', 'active']],
      [{ userId: 'user-1' }, ['medium', 'closed']],
      [{ userId: 'USER-1' }, []],
      [{ fingerprint: 'fp-1' }, ['bot', 'human']],
      [{ fingerprint: 'fp-9' }, []],
      [{ origin: 'https://a.example.edu' }, ['closed', 'active']],
      [{ origin: 'https://a.example.edu:8443' }, ['human']],
      [{ origin: 'http://a.example.edu' }, ['bot']],
      [{ origin: 'a.example.edu' }, []],
      [{ deviceType: 'mobile' }, ['active']],
      [{ deviceType: 'tablet' }, ['closed']],
      [{ deviceType: 'desktop' }, ['labelled-human', 'labelled-bot', 'bot', 'medium', 'human']],
      [{ status: 'Scored', minBotScore: '0.5', detectionFlag: 'webdriver', fingerprint: 'fp-1' }, ['bot']],
      [{ status: 'Active', riskLevel: 'bot' }, []],
      [{ userId: 'user-1', deviceType: 'tablet' }, ['closed']],
      [{ label: 'none', riskLevel: 'bot' }, ['bot']],
    ])('%j', async (query, ids) => {
      expect(await listIds(tenant, query)).toEqual(ids);
    });

    it('courseId', async () => {
      const { courseId } = (await get(tenant, '/v1/sessions/active')).body.data;
      expect(await listIds(tenant, { courseId })).toEqual(['active']);
      const other = (await get(tenant, '/v1/sessions/medium')).body.data.courseId;
      expect(other).not.toBe(courseId);
      expect(await listIds(tenant, { courseId: other })).toEqual(['medium']);
      expect(await listIds(tenant, { courseId: '1' })).toEqual([]);
    });

    it.each<[Record<string, string>, Record<string, string>]>([
      [{ status: 'sCORED' }, { status: 'Scored' }],
      [{ riskLevel: 'BOT' }, { riskLevel: 'bot' }],
      [{ label: 'None' }, { label: 'none' }],
      [{ deviceType: 'Tablet' }, { deviceType: 'tablet' }],
    ])('take words in any case: %j', async (query, same) => {
      const ids = await listIds(tenant, query);
      expect(ids).toEqual(await listIds(tenant, same));
      expect(ids.length).toBeGreaterThan(0);
    });

    it('by riskLevel select the sessions that show it', async () => {
      const { data } = (await list(tenant)).body;
      for (const riskLevel of ['bot', 'medium', 'human']) {
        const shown = data.filter((session: { riskLevel: string }) => session.riskLevel === riskLevel);
        expect(await listIds(tenant, { riskLevel })).toEqual(shown.map((session: { id: string }) => session.id));
      }
    });

    it.each<[Record<string, string>, string[]]>([
      [{ startDate: at('05:00:00') }, ['labelled-human', 'labelled-bot', 'bot']],
      [{ startDate: `${DAY}T05:00:00.001Z` }, ['labelled-human', 'labelled-bot']],
      [{ endDate: at('03:00:00') }, ['closed', 'active']],
      [{ endDate: `${DAY}T03:00:00.001Z` }, ['human', 'closed', 'active']],
      [{ startDate: at('03:00:00'), endDate: at('05:00:00') }, ['medium', 'human']],
      [{ startDate: at('03:00:00'), endDate: at('03:00:00') }, []],
      [{ startDate: `${DAY}T07:00:00+02:00` }, ['labelled-human', 'labelled-bot', 'bot']],
      [{ endDate: `${DAY}T00:00:00-03:00` }, ['closed', 'active']],
      [{ startDate: `${DAY}T05:00:00Z` }, ['labelled-human', 'labelled-bot', 'bot']],
      [{ startDate: `${DAY}T05:00:00.000001Z` }, ['labelled-human', 'labelled-bot']],
      [{ startDate: `${DAY}T05:00:00.000000Z` }, ['labelled-human', 'labelled-bot', 'bot']],
      [{ endDate: `${DAY}T03:00:00.0009Z` }, ['human', 'closed', 'active']],
      [{ endDate: `${DAY}T03:00:00.0000000000Z` }, ['closed', 'active']],
      [{ startDate: DAY }, ALL],
      [{ endDate: DAY }, ALL],
      [{ startDate: DAY, endDate: DAY }, ALL],
      [{ startDate: '2026-03-11' }, []],
      [{ endDate: '2026-03-09' }, []],
      [{ startDate: '2026-03-09', endDate: '2026-03-11' }, ALL],
    ])('select [start, end) of createdAt: %j', async (query, ids) => {
      expect(await listIds(tenant, query)).toEqual(ids);
    });

    it('include the whole UTC day of a date-only endDate', async () => {
      const other = await server.createTenant();
      const last = started('last', { startedAt: '2026-02-28T23:59:59.999Z' });
      const next = started('next', { startedAt: '2026-03-01T00:00:00.000Z' });
      await ingest(other, [last, next]);
      expect(await listIds(other, { endDate: '2026-02-28' })).toEqual(['last']);
      expect(await listIds(other, { startDate: '2026-03-01' })).toEqual(['next']);
    });

    it.each<[string, string[]]>([
      [
        'startDate',
        ['', 'yesterday', '2026-02-30', '2026-13-01', '2026-1-1', '20260101', '2026-03-10T05:00:00', '1773118800'],
      ],
      ['endDate', ['', 'x', '2026-02-30', '2026-03-10T25:00:00Z', '2026-03-10T05:00:00+99:00', '2026-03-10 05:00:00Z']],
      ['status', ['', 'open', 'Scored ', 'Scored,Closed', '__proto__', 'constructor']],
      [
        'minBotScore',
        [
          '',
          '1.1',
          '-0.1',
          '.5',
          '1.',
          '1e',
          'e1',
          '1e1',
          '1e999',
          ' 0.5',
          '+0.5',
          'NaN',
          'Infinity',
          '0x1',
          '0,5',
          '70',
        ],
      ],
      ['maxBotScore', ['', '1.1', '-0.1', '.5', '1.', '1e', 'e1', '1e1', '1e999', ' 0.5', '+0.5', 'NaN', '2']],
      ['riskLevel', ['', 'low', 'bots', 'none']],
      ['detectionFlag', ['', 'x'.repeat(257), 'a\0b']],
      ['label', ['', 'medium', 'null']],
      ['userId', ['', 'x'.repeat(257), '\0']],
      ['courseId', ['', 'x'.repeat(257), '\0']],
      ['fingerprint', ['', 'x'.repeat(257), '\0']],
      ['origin', ['', '\0']],
      ['deviceType', ['', 'phone', 'desktop ']],
    ])('%s is named in the 400 for a wrong value', async (name, values) => {
      for (const value of values) expectError(await list(tenant, { [name]: value }), 'INVALID_REQUEST', name);
    });

    it.each(
      ['startDate', 'endDate', 'status', 'minBotScore', 'maxBotScore', 'riskLevel', 'detectionFlag'].concat([
        'label',
        'userId',
        'courseId',
        'fingerprint',
        'origin',
        'deviceType',
        'cursor',
        'pageSize',
      ]),
    )('%s is taken only once', async (name) => {
      const value =
        { pageSize: '5', status: 'Scored', riskLevel: 'bot', label: 'bot', deviceType: 'mobile' }[name] ?? '1';
      const date = name.endsWith('Date') ? DAY : value;
      expectError(await get(tenant, `/v1/sessions?${name}=${date}&${name}=${date}`), 'INVALID_REQUEST', name);
    });

    it('name endDate if startDate is after it', async () => {
      const query = { startDate: at('05:00:00'), endDate: at('04:00:00') };
      expectError(await list(tenant, query), 'INVALID_REQUEST', 'endDate');
      expectError(await list(tenant, { startDate: '2026-03-12', endDate: DAY }), 'INVALID_REQUEST', 'endDate');
    });

    it('name maxBotScore if minBotScore is over it', async () => {
      expectError(await list(tenant, { minBotScore: '0.6', maxBotScore: '0.5' }), 'INVALID_REQUEST', 'maxBotScore');
      expectError(await list(tenant, { minBotScore: '1', maxBotScore: '0' }), 'INVALID_REQUEST', 'maxBotScore');
    });

    it.each([
      '__proto__=1',
      'constructor=1',
      'toString=1&toString=2',
      'unknown=1&unknown=2',
      'status[]=Active',
      'Status=Active',
      'unknown=%zz',
      '%zz=1',
      '=',
      '&&',
      'unknown=%00',
    ])('ignore unknown parameters: ?%s', async (query) => {
      const { status, body } = await sendRaw(server.url, 'GET', `/v1/sessions?${query}`, {
        headers: { Authorization: `Bearer ${tenant.key}` },
      });
      expect([status, body.data.length]).toEqual([200, ALL.length]);
    });

    it('are percent-decoded, and so are their names', async () => {
      expect((await get(tenant, '/v1/sessions?%73tatus=%41ctive')).body.data).toHaveLength(1);
      expectError(await get(tenant, '/v1/sessions?status=Active&%73tatus=Active'), 'INVALID_REQUEST', 'status');
    });

    it.each(['%zz', '%', '%e2%82', '%ED%A0%80'])(
      'name a parameter that is not percent-encoded UTF-8: %s',
      async (value) => {
        expectError(await get(tenant, `/v1/sessions?userId=${value}`), 'INVALID_REQUEST', 'userId');
      },
    );
  });
}
