import { afterAll, beforeAll, expect, it } from 'vitest';
import { asOperator } from '../../server/audit/acts';
import { getAnalytics } from '../../server/domain/analytics';
import type { DomainContext } from '../../server/domain/context';
import { createIntegration } from '../../server/domain/integrations';
import { foldSessionDeltas } from '../../server/domain/rollups';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { type Block, readBlocks } from '../support/documents';

// Runs the example of docs/counts.md block by block: its sessions, its statements and the figures that it shows.

const DOCUMENT = 'docs/counts.md';

interface ExampleSession {
  id: string;
  at: string;
  device: string | null;
  user: string | null;
  bin: number;
}

let database: TestDatabase;
let context: DomainContext;
beforeAll(async () => {
  database = await createTestDatabase();
  const { id } = await createIntegration(asOperator(database.db), { name: 'own', plan: 'pro', allowedOrigins: [] });
  context = {
    integration: { id, plan: 'pro', tier: 'pro', mediumAt: 40, botAt: 70 },
    db: database.db,
    cursorKey: Buffer.alloc(32),
  };
});
afterAll(() => database.drop());

const insertSessions = (sessions: ExampleSession[]) => database.db.sql`
  insert into sessions (integration_id, id, created_at, status, page_url, origin, user_agent, user_agent_summary, device_type,
                        browser, fingerprint, user_id, correlation_confidence, bot_score, score_bin)
  select ${context.integration.id}, s.id, date_trunc('day', now(), 'UTC') - interval '1 day' + s.at::interval, 'Scored', '', '', '', '',
         'desktop', 'Chrome', s.device, s.user, 1, s.bin / 100.0, s.bin
    from json_to_recordset(${JSON.stringify(sessions)}::text::json)
      as s(id text, at text, device text, "user" text, bin int)`;

/** Runs a statement in UTC and formats its rows as the document does, without the padding of columns. */
async function runStatement(text: string): Promise<string[]> {
  const rows = await database.db.sql.begin(async (sql) => {
    await sql`set local time zone 'UTC'`;
    return sql.unsafe(text);
  });
  const names = rows.columns?.map(({ name }) => name) ?? [];
  return [names, ...rows.map((row) => names.map((name) => row[name] ?? '–'))].map((cells) => cells.join(' | '));
}

const readTable = ({ code }: Block) => code.split('\n').map((line) => line.replaceAll(/ *\| */g, ' | ').trim());

async function countAnalytics() {
  const { summary } = await getAnalytics(context, { period: '7d', groupBy: 'hour' });
  const { totalSessions, uniqueUsers, uniqueBots } = summary;
  return { totalSessions, uniqueUsers, uniqueBots };
}

/** The rows of the last statement, until a block of text has been compared with them. */
let answered: string[] | null = null;

async function followBlock(block: Block) {
  const { language, name, code } = block;
  switch (`${language} ${name ?? ''}`.trim()) {
    case 'json sessions':
      await insertSessions(JSON.parse(code));
      return;
    case 'json analytics':
      expect(await countAnalytics()).toEqual(JSON.parse(code));
      return;
    case 'sql change':
      await runStatement(code);
      return;
    case 'sql folded':
      await foldSessionDeltas(database.db);
      answered = await runStatement(code);
      return;
    case 'sql':
      answered = await runStatement(code);
      return;
    case 'text':
      expect(answered).toEqual(readTable(block));
      answered = null;
      return;
    default:
      throw new Error(`a block of an unknown kind: ${language} ${name}`);
  }
}

it('the example in docs/counts.md shows what the database answers', async () => {
  const blocks = readBlocks(DOCUMENT);
  expect(blocks.filter(({ language }) => language === 'text').length).toBeGreaterThanOrEqual(5);
  for (const block of blocks)
    await followBlock(block).catch((error: unknown) => {
      throw new Error(`${DOCUMENT}:${block.line}: ${(error as Error).message}`, { cause: error });
    });
  expect(answered).toBeNull();
});
