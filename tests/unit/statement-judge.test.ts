import { describe, expect, it } from 'vitest';
import { judgeStatement } from '../support/statement-judge';

const KEYS = `json_to_recordset($1::text::json) as k("integrationId" text, id text)`;
const UNBOUND = 'is not bound to an integration';

const KEPT: [why: string, text: string][] = [
  ['a parameter', 'select * from sessions where integration_id = $1 and id = $2'],
  ['a parameter on the left, with casts', 'select * from sessions s where $1::text = s.integration_id'],
  ['quoted names', 'select "sessions"."id" from "sessions" where (("sessions"."integration_id" = $1) and true)'],
  [
    'the integration itself',
    'select s.* from integrations i join sessions s on s.integration_id = i.id where i.id = $1',
  ],
  ['several parameters', 'select * from sessions where integration_id in ($1, $2)'],
  ['an array', 'select * from sessions where integration_id = any($1)'],
  ['a list', 'select * from sessions where integration_id in (select json_array_elements_text($1::text::json))'],
  ['rows of a parameter', `select s.* from sessions s join ${KEYS} on s.integration_id = k."integrationId"`],
  [
    'pairs of keys',
    `select * from sessions s where (s.integration_id, s.id) in (select k."integrationId", k.id from ${KEYS})`,
  ],
  [
    'a joined table',
    'select * from sessions s left join users u on u.integration_id = s.integration_id and u.id = s.user_id where s.integration_id = $1',
  ],
  ['a join by using', 'select * from sessions join users using (integration_id) where sessions.integration_id = $1'],
  [
    'one parameter per table',
    'select * from sessions s, users u where s.integration_id = $1 and u.integration_id = $1',
  ],
  [
    'a lateral subquery',
    'select * from users u cross join lateral (select count(*) from sessions s where s.integration_id = u.integration_id) n where u.integration_id = $1',
  ],
  [
    'a value of a subquery',
    'select (select count(*) from anomalies a where a.integration_id = u.integration_id) from users u where u.integration_id = $1',
  ],
  [
    'a named query',
    'with due as (select integration_id, id from sessions where integration_id = $1 for update skip locked) update sessions s set status = $2 from due where s.integration_id = due.integration_id and s.id = due.id returning s.*',
  ],
  [
    'both arms of a union',
    'select id from users where integration_id = $1 union all select id from courses where integration_id = $1',
  ],
  [
    'an inserted row',
    'insert into courses (integration_id, id) values ($1, $2) on conflict (integration_id, id) do update set name = excluded.name',
  ],
  [
    'inserted rows',
    `insert into courses (id, integration_id) select k.id, k."integrationId" from ${KEYS} on conflict do nothing`,
  ],
  [
    'deleted rows',
    'delete from sessions s using users u where s.integration_id = u.integration_id and u.integration_id = $1',
  ],
  ['a parameter in a subquery', 'select * from sessions where integration_id = (select $1::text) and id = $2'],
  ['other tables', 'select * from rate_windows where bucket = $1'],
  ['a name that hides a table', `with sessions as (select * from ${KEYS}) select * from sessions`],
];

const REFUSED: [why: string, text: string, faults: string[]][] = [
  ['no condition', 'select count(*) from sessions', [`sessions sessions ${UNBOUND}`]],
  ['another column', 'select * from sessions where id = $1', [`sessions sessions ${UNBOUND}`]],
  ['a constant', `select * from sessions where integration_id = 'int_1'`, [`sessions sessions ${UNBOUND}`]],
  ['an alternative', 'select * from sessions where integration_id = $1 or id = $2', [`sessions sessions ${UNBOUND}`]],
  ['a negation', 'select * from sessions where not (integration_id = $1)', [`sessions sessions ${UNBOUND}`]],
  ['an inequality', 'select * from sessions where integration_id >= $1', [`sessions sessions ${UNBOUND}`]],
  [
    'a value chosen by a subquery',
    'select * from sessions where integration_id = (select $1 limit 0) or integration_id = (select max(i) from unnest($1) i)',
    [`sessions sessions ${UNBOUND}`],
  ],
  [
    'a value of a subquery with a condition',
    'select * from sessions where integration_id = (select $1 where $2)',
    [`sessions sessions ${UNBOUND}`],
  ],
  [
    'a condition outside the subquery',
    'select * from (select * from sessions limit 9) s where s.integration_id = $1',
    [`sessions s/sessions ${UNBOUND}`],
  ],
  [
    'a comparison with itself',
    'select * from sessions s where s.integration_id = s.integration_id',
    [`sessions s ${UNBOUND}`],
  ],
  [
    'the other column of a pair',
    `select * from sessions s where (s.integration_id, s.id) in (select k.id, k."integrationId" from ${KEYS})`,
    [`sessions s ${UNBOUND}`],
  ],
  [
    'rows that come from no parameter',
    `select s.* from sessions s join json_to_recordset('[]') as k("integrationId" text) on s.integration_id = k."integrationId"`,
    [`sessions s ${UNBOUND}`],
  ],
  [
    'a join by id alone',
    'select * from sessions s left join users u on u.id = s.user_id where s.integration_id = $1',
    [`users u ${UNBOUND}`, 'sessions s, users u: joined, but not by the integration'],
  ],
  [
    'a condition that an outer join does not enforce',
    'select * from sessions s left join users u on s.integration_id = $1 and u.integration_id = $1',
    [`sessions s ${UNBOUND}`, 'sessions s, users u: joined, but not by the integration'],
  ],
  [
    'two lists that are not joined',
    `select * from sessions s join users u on u.id = s.user_id where s.integration_id = any($1) and u.integration_id = any($1)`,
    ['sessions s, users u: joined, but not by the integration'],
  ],
  [
    'a lateral subquery by id alone',
    'select * from users u cross join lateral (select count(*) from sessions s where s.user_id = u.id) n where u.integration_id = $1',
    [`sessions n/s ${UNBOUND}`],
  ],
  [
    'a value of a subquery',
    'select (select count(*) from anomalies) from users where integration_id = $1',
    [`anomalies anomalies ${UNBOUND}`],
  ],
  [
    'a named query',
    'with all_of_them as (select * from sessions) select * from all_of_them where integration_id = $1',
    [`sessions all_of_them/sessions ${UNBOUND}`],
  ],
  [
    'an update by id alone',
    'with due as (select integration_id, id from sessions where integration_id = $1) update sessions s set status = $2 from due where s.id = due.id',
    [`sessions s ${UNBOUND}`, 'sessions s, due: joined, but not by the integration'],
  ],
  [
    'existence by id alone',
    'with r as (select integration_id, id from users where integration_id = any($1)) select * from sessions s where s.integration_id = any($1) and exists (select 1 from r where r.id = s.user_id)',
    ['r: joined, but not by the integration'],
  ],
  [
    'one arm of a union',
    'select id from users where integration_id = $1 union all select id from courses',
    [`courses courses ${UNBOUND}`],
  ],
  ['a row without an integration', 'insert into courses (id) values ($1)', [`courses courses ${UNBOUND}`]],
  [
    'a row with the default',
    'insert into courses (integration_id, id) values ($1, $2), (default, $3)',
    [`courses courses ${UNBOUND}`],
  ],
  [
    'rows with swapped columns',
    `insert into courses (integration_id, id) select k.id, k."integrationId" from ${KEYS}`,
    [`courses courses ${UNBOUND}`],
  ],
  [
    'a conflict across tenants',
    'insert into courses (integration_id, id) values ($1, $2) on conflict (id) do update set name = excluded.name',
    ['courses courses updates on a conflict without integration_id'],
  ],
  [
    'a row moved to another integration',
    'update courses set integration_id = $1 where integration_id = $2',
    ['courses courses changes integration_id'],
  ],
  ['a deletion by id alone', 'delete from sessions where id = $1', [`sessions sessions ${UNBOUND}`]],
  ['a whole table', 'truncate sessions', ['sessions in a statement that is not understood']],
];

describe('a statement stays within its integrations', () => {
  it.each(KEPT)('through %s', (_, text) => {
    expect(judgeStatement(text).faults).toEqual([]);
  });

  it('named in parameters', () => {
    const anchorsOf = (text: string) => judgeStatement(text).anchors;
    expect(anchorsOf('select * from sessions where id = $1 and integration_id = $2')).toEqual([
      { parameter: 2, list: null },
    ]);
    expect(anchorsOf(`select s.* from sessions s join ${KEYS} on s.integration_id = k."integrationId"`)).toEqual([
      { parameter: 1, list: { field: 'integrationId' } },
    ]);
    expect(anchorsOf('delete from users where integration_id in (select json_array_elements_text($3))')).toEqual([
      { parameter: 3, list: { field: null } },
    ]);
  });
});

describe('a statement does not stay within its integrations', () => {
  it.each(REFUSED)('through %s', (_, text, faults) => {
    expect(judgeStatement(text).faults.sort()).toEqual(faults.toSorted());
  });

  it('if one reference is excused and another does not follow from it', () => {
    const sweep = (join: string) =>
      `with dead as (select d.integration_id, d.id from webhook_deliveries d join webhook_subscriptions s on ${join})
       update webhook_deliveries d set status = 'Failed' from dead x where d.integration_id = x.integration_id and d.id = x.id`;
    const whole = sweep('s.integration_id = d.integration_id and s.id = d.subscription_id');
    expect(judgeStatement(whole, ['dead/d']).faults).toEqual([]);
    expect(judgeStatement(whole).faults).toHaveLength(3);
    expect(judgeStatement(sweep('s.id = d.subscription_id'), ['dead/d']).faults).toContain(
      `webhook_subscriptions dead/s ${UNBOUND}`,
    );
    expect(judgeStatement(whole, ['dead/d', 'dead/q']).faults).toEqual(['dead/q is excused but not there']);
  });
});
