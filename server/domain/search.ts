import { type FindInput, type FoundKind, MAX_FOUND, type SearchResult } from '../../contract/search';
import type { DomainContext } from './context';

// The search of everything. Each kind is one statement: a short range of an index, or a list that is bounded itself. Ids and
// fingerprints are found by how they begin, names by the beginnings of their words.

/** A word with as many entries is common. Common words choose nothing; they are checked on what the others have chosen. */
const MAX_ENTRIES = 2_000;
/** How many rows are checked for common words. */
const MAX_CHECKED = 200;
/** Names of reports are searched in the latest ones. */
const LATEST_REPORTS = 500;

/** Selects what begins with `prefix` ($2). No text sorts between a prefix followed by the last code point and what comes next. */
const beginsWith = (column: string) => `${column} >= $2 and ${column} < $2 || chr(1114111)`;

/** Selects the entries of an asked word. */
const entriesOf = (kind: 'user' | 'course', word: string, columns: string, limit: number) => `
  select ${columns} from search_words w
   where w.integration_id = $1 and w.kind = '${kind}' and w.word >= ${word} and w.word < ${word} || chr(1114111)
   order by w.word, w.id limit ${limit}`;

/** Selects the ids of the users or courses of which each word of $2 begins a word. `words` are all words of a row `t`. */
const findByWords = (kind: 'user' | 'course', table: string, words: string) => `
  asked as materialized (
    select word, (select count(*) from (${entriesOf(kind, 'a.word', '1', MAX_ENTRIES)}) c) as entries
      from unnest(split_words($2)) a(word)),
  rare as materialized (select word from asked where entries < ${MAX_ENTRIES}),
  chosen as materialized (
    (select e.id, min(e.word) as word
       from rare r cross join lateral (${entriesOf(kind, 'r.word', 'w.id, w.word', MAX_ENTRIES)}) e
      group by e.id having count(distinct r.word) = (select count(*) from rare)
      order by 2, 1 limit ${MAX_CHECKED})
     union all
    select c.id, c.word
      from (select word from asked order by length(word) desc limit 1) a
      cross join lateral (${entriesOf(kind, 'a.word', 'w.id, w.word', MAX_CHECKED)}) c
     where not exists (select from rare)),
  named as materialized (
    select c.id, c.word from chosen c join ${table} t on t.integration_id = $1 and t.id = c.id
     where (select count(*) <= 1 or max(entries) < ${MAX_ENTRIES} from asked)
        or not exists (select from asked a where not exists (select from unnest(${words}) o where starts_with(o, a.word)))
     order by c.word, c.id limit ${2 * MAX_FOUND}),
  known as materialized (select id from ${table} where integration_id = $1 and ${beginsWith('id')} order by id limit ${MAX_FOUND}),
  found as (select id, min(word) as word from (select id, '' as word from known union all select id, word from named) f group by id)`;

/** What a statement selects of each thing that it finds. */
const show = (kind: FoundKind, id: string, title: string, detail: string, at: string) =>
  `'${kind}' as kind, ${id} as id, ${title} as title, ${detail} as detail, ${at} as at`;

const SEEN = (column: string, row: string) =>
  `(select max(created_at) from sessions s where s.integration_id = $1 and s.${column} = ${row}.id)`;

/** The name of a session's user, for its second line. */
const NAME_OF_USER = '(select name from users u where u.integration_id = s.integration_id and u.id = s.user_id)';

/** A text that contains what was asked for. Only for lists that are short themselves. */
const contains = (text: string) => `strpos(plain_text(${text}), plain_text($2)) > 0`;

const findDevice = (after: string) => `
        select s.fingerprint as id from sessions s where s.integration_id = $1 and ${after}
         order by s.fingerprint, s.created_at, s.id limit 1`;
const NUMBERS = Array.from({ length: MAX_FOUND }, (_, n) => n);
/** The sessions of a device are next to each other in the index, so each part jumps from one device to the next. */
const DEVICES = `(${findDevice(beginsWith('s.fingerprint'))}) d0
      ${NUMBERS.slice(1)
        .map((n) => {
          const next = findDevice(`s.fingerprint > d${n - 1}.id and s.fingerprint < $2 || chr(1114111)`);
          return `left join lateral (${next}) d${n} on true`;
        })
        .join('\n')}
      cross join lateral (values ${NUMBERS.map((n) => `(d${n}.id)`).join(', ')}) d(id)`;

const STATEMENTS: Record<FoundKind, string> = {
  user: `with ${findByWords('user', 'users', "split_words(concat_ws(' ', t.name, t.email))")}
    select ${show('user', 'u.id', 'u.name', 'coalesce(u.email, u.id)', SEEN('user_id', 'u'))}
      from found join users u on u.integration_id = $1 and u.id = found.id
     order by found.word, u.id limit ${MAX_FOUND}`,
  session: `
    select ${show('session', 's.id', 's.id', `coalesce(${NAME_OF_USER}, s.user_id, s.page_url)`, 's.created_at')}
      from sessions s where s.integration_id = $1 and ${beginsWith('s.id')} order by s.id limit ${MAX_FOUND}`,
  course: `with ${findByWords('course', 'courses', "split_words(concat_ws(' ', t.name, t.code))")}
    select ${show('course', 'c.id', 'c.name', "coalesce(c.code || ' · ', '') || c.url", SEEN('course_id', 'c'))}
      from found join courses c on c.integration_id = $1 and c.id = found.id
     order by found.word, c.id limit ${MAX_FOUND}`,
  device: `
    select ${show('device', 'd.id', 'd.id', `coalesce(${NAME_OF_USER}, s.user_id)`, 's.created_at')}
      from ${DEVICES}
      cross join lateral (
        select * from sessions l where l.integration_id = $1 and l.fingerprint = d.id
         order by l.fingerprint desc, l.created_at desc, l.id desc limit 1) s
     order by d.id`,
  webhook: `
    select ${show('webhook', 'id', 'name', 'url', 'last_delivery_at')}
      from webhook_subscriptions
     where integration_id = $1 and deleted_at is null
       and (${contains('name')} or ${contains('url')} or ${contains('event_type')} or starts_with(id, $2))
     order by created_at, id limit ${MAX_FOUND}`,
  alertRule: `
    select ${show('alertRule', 'id', 'name', "severity || case when enabled then '' else ' · off' end", 'null::timestamptz')}
      from alert_rules where integration_id = $1 and deleted_at is null and (${contains('name')} or starts_with(id, $2))
     order by name, id limit ${MAX_FOUND}`,
  alert: `
    select ${show('alert', 'id', 'message', 'id', 'triggered_at')}
      from alerts where integration_id = $1 and ${beginsWith('id')} order by id limit ${MAX_FOUND}`,
  report: `with latest as materialized (
      select id, name, format, completed_at from reports where integration_id = $1
       order by completed_at desc, id desc limit ${LATEST_REPORTS}),
    known as materialized (
      select id, name, format, completed_at from reports
       where integration_id = $1 and ${beginsWith('id')} order by id limit ${MAX_FOUND})
    select ${show('report', 'id', 'name', 'upper(format)', 'completed_at')}
      from (select * from latest where ${contains('name')} union select * from known) r
     order by completed_at desc, id desc limit ${MAX_FOUND}`,
};

/**
 * Finds at most five things of each kind: users by name and email, courses by name and code, webhooks, alert rules and
 * reports by a part of their name, all by how their id begins.
 */
export async function findEverything(
  { db, integration }: DomainContext,
  { query }: FindInput,
): Promise<SearchResult[]> {
  const asked = query.trim();
  if (asked === '') return [];
  const found = await Promise.all(
    Object.values(STATEMENTS).map((statement) => db.query<SearchResult>(statement, [integration.id, asked])),
  );
  return found.flat();
}
