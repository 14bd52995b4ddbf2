import type postgres from 'postgres';
import type { Statement } from './statements';

/** A node of a plan, as Postgres explains it. */
export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: PlanNode[];
}

/**
 * Runs a statement with its own parameters and answers the nodes of its plan: one for these parameters (`custom`), or
 * the `generic` one, which Postgres may use after five executions of a prepared statement.
 */
export async function explainStatement(
  sql: postgres.Sql,
  { text, parameters }: Statement,
  plan: 'custom' | 'generic',
): Promise<PlanNode[]> {
  return await sql.begin(async (tx) => {
    await tx.unsafe(`set local plan_cache_mode = force_${plan}_plan`);
    await tx.unsafe(`prepare explained as ${text}`);
    const values = parameters.map(quote).join(', ');
    const rows = await tx.unsafe(
      `explain (analyze, timing off, format json) execute explained${values === '' ? '' : ` (${values})`}`,
    );
    await tx.unsafe('deallocate explained');
    return flatten((rows as unknown as [{ 'QUERY PLAN': [{ Plan: PlanNode }] }])[0]['QUERY PLAN'][0].Plan);
  });
}

function quote(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return `array[${value.map(quote).join(', ')}]`;
  return `'${String(value).replaceAll("'", "''")}'`;
}

const flatten = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(flatten)];

/** Counts the rows that a node read, including those that it then filtered out. */
export const countRead = (node: PlanNode) =>
  node['Actual Loops'] *
  (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0));
