import type { Database } from '../../db/client';

/** Reads every row of every table of every schema as text, like a dump of the whole database. */
export async function dumpDatabase({ sql }: Database): Promise<Map<string, string[]>> {
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname not like 'pg_temp%'
     order by 1`;
  const dump = new Map<string, string[]>();
  for (const { name } of tables) {
    const rows = await sql.unsafe<{ line: string }[]>(`select t::text as line from ${name} t`);
    dump.set(
      name,
      rows.map(({ line }) => line),
    );
  }
  return dump;
}

/** Finds rows with one of some texts: in any case, and as addresses, JSON and bytes write it. */
export function findInDump(dump: Map<string, string[]>, texts: string[]): string[] {
  const forms = texts
    .flatMap((text) => [
      ...[text, encodeURIComponent(text), encodeURI(text), encodeURIComponent(text).replaceAll('%20', '+')],
      ...[JSON.stringify(text).slice(1, -1), Buffer.from(text).toString('hex'), Buffer.from(text).toString('base64')],
    ])
    .map((form) => form.toLowerCase());
  const isFound = (line: string) => {
    const lower = line.toLowerCase();
    return forms.some((form) => lower.includes(form));
  };
  return [...dump].flatMap(([table, lines]) => lines.filter(isFound).map((line) => `${table}: ${line.slice(0, 300)}`));
}
