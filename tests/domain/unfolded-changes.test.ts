import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import type { DomainContext } from '../../server/domain/context';
import { listCourses, listSortedCourses, listSortedUsers, listUsers } from '../../server/domain/directories';
import { createIntegration } from '../../server/domain/integrations';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { countRead, explainStatement } from '../support/plans';
import type { Statement } from '../support/statements';

// While a pipeline sends a lot at once, thousands of changes wait for the next fold. Readers add them to the folded counts.

const USERS = 1_200;
const COURSES = 300;
const SESSIONS = 3_000;

let database: TestDatabase;
let context: DomainContext;
let statements: Statement[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  const { id } = await createIntegration(asOperator(database.db), { name: 'own', plan: 'pro', allowedOrigins: [] });
  await database.db.sql`
    insert into users (integration_id, id, name, described_at) select ${id}, 'u-' || n, 'User', now() from generate_series(1, ${USERS}) n`;
  await database.db.sql`
    insert into courses (integration_id, id, name, url) select ${id}, 'c-' || n, 'Course', '' from generate_series(1, ${COURSES}) n`;
  await database.db.sql`
    insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type, browser,
                          fingerprint, user_id, course_id, correlation_confidence)
    select ${id}, 's-' || n, now(), 'Closed', '', '', '', '', 'desktop', 'Chrome', 'f-' || n % 7, 'u-' || 1 + n % ${USERS},
           'c-' || 1 + n % ${COURSES}, 0.5
      from generate_series(1, ${SESSIONS}) n`;
  await database.db.sql`analyze`;
  context = {
    integration: { id, plan: 'pro', tier: 'pro', mediumAt: 40, botAt: 70 },
    db: {
      ...database.db,
      query: (text, parameters = []) => {
        statements.push({ text, parameters, isPrepared: true } as Statement);
        return database.db.query(text, parameters);
      },
    },
    cursorKey: Buffer.alloc(32),
  };
});
afterAll(() => database.drop());

const LISTS = {
  users: (pageSize: number) => listUsers(context, { pageSize }),
  courses: (pageSize: number) => listCourses(context, { pageSize }),
  'users by name': (pageSize: number) => listSortedUsers(context, { sort: 'name', pageSize }),
  'courses by name': (pageSize: number) => listSortedCourses(context, { sort: 'name', pageSize }),
};

describe('a page that adds many changes that are not folded', () => {
  it.each(Object.keys(LISTS) as (keyof typeof LISTS)[])(
    'reads each of them a few times, not for each of its %s',
    async (name) => {
      statements = [];
      const { data } = await LISTS[name](100);
      expect(data).toHaveLength(100);
      const all = { users: SESSIONS / USERS, courses: SESSIONS / COURSES }[name.split(' ')[0] as 'users' | 'courses'];
      const counted = data.map(({ sessionCount }) => sessionCount);
      expect([Math.min(...counted), Math.max(...counted)]).toEqual([Math.floor(all), Math.ceil(all)]);
      for (const kind of ['custom', 'generic'] as const) {
        const nodes = await explainStatement(database.db.sql, statements[0]!, kind);
        // Each is split into three rows before those of the page's kind are chosen.
        const most = Math.max(...nodes.map(countRead));
        expect(most, kind).toBeLessThanOrEqual(10 * SESSIONS);
      }
    },
  );
});
