import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { factSchema } from '../../server/pipeline/facts';
import { findUncalled, listRouteCalls, type RouteCall, type Subject } from '../support/route-calls';
import { type Anchor, type Judgement, judgeStatement, parseStatement } from '../support/statement-judge';
import type { Statement } from '../support/statements';
import { SHARED, SHARED_COURSE } from '../support/tenant-facts';
import { TENANT_TABLES } from '../support/tenant-tables';
import {
  callEverything,
  endDeliveries,
  failDeliveries,
  failNamedDelivery,
  sendFacts,
  walkEverything,
} from './tenant-statements/customer-acts';
import { collectPages, cutShort, judgeFindings, operate } from './tenant-statements/process-acts';
import {
  receiver,
  sentKinds,
  server,
  startTenant,
  stopTenant,
  subscribe,
  tenant,
} from './tenant-statements/recorded-tenant';
import { NO_QUERY, SPANNING } from './tenant-statements/spanning-statements';
import { lookAfterDeliveries, makeReports } from './tenant-statements/staff-acts';

// Every statement that the product sends is bound to the integrations that it is given. The statements are recorded
// while one tenant exercises all routes, all kinds of facts, the whole life of deliveries and the operator's commands.

let calls: Map<string, RouteCall[]>;
let statements: Statement[];

beforeAll(async () => {
  const recorder = await startTenant();
  const webhookId = await subscribe('/own', 'SessionAnomaly');
  const deletedId = await subscribe('/deleted', 'BotDetected');
  await server.database.db.sql`
    insert into user_erasures (integration_id, id, refused_until, completed_at, position, counts)
    values (${tenant.id}, 'era_shared', now(), now(), '{"step": 0}', '{"sessions": 0, "traces": 0, "events": 0, "deliveries": 0, "reports": 0, "texts": 0}')`;
  const subject: Subject = {
    receiptId: 'era_shared',
    sessionId: SHARED.sessions[0]!,
    userId: SHARED.users[0]!,
    fingerprint: SHARED.fingerprints[0]!,
    courseId: SHARED_COURSE,
    origin: SHARED.origin,
    detectionFlag: 'shared',
    ...{ webhookId, deliveryId: 'dlv_named', eventId: 'evt_named' },
    webhookUrl: `${receiver.url}/own`,
  };
  calls = listRouteCalls(subject);
  await sendFacts();
  await judgeFindings();
  await endDeliveries(1);
  await lookAfterDeliveries(webhookId);
  await failNamedDelivery(webhookId);
  await callEverything(calls);
  await walkEverything(subject);
  await makeReports();
  await failDeliveries(deletedId);
  await operate();
  await collectPages();
  await cutShort();
  statements = recorder.take();
  recorder.stop();
});
afterAll(stopTenant);

const flatten = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
const findSpanning = (text: string) => SPANNING.find((one) => one.text.test(flatten(text)));

/** Each statement, judged once, with the exception that applies to it. */
const judged = new Map<string, Judgement>();
function judge({ text }: Statement): Judgement {
  const judgement = judged.get(text) ?? judgeStatement(text, findSpanning(text)?.spans);
  judged.set(text, judgement);
  return judgement;
}
const listDistinct = () => [...new Map(statements.map((statement) => [statement.text, statement])).values()];

/** Reads the integrations that a statement is given in a parameter. */
function readIntegrations({ parameters }: Statement, { parameter, list }: Anchor): unknown[] {
  const value = parameters[parameter - 1];
  if (!list) return [value];
  const items = typeof value === 'string' ? JSON.parse(value) : value;
  return list.field === null ? items : items.map((item: Record<string, unknown>) => item[list.field!]);
}

describe('the statements of the product', () => {
  it('are recorded from every route, with every query parameter and field', () => {
    expect(findUncalled(calls)).toEqual([]);
    expect(calls.size).toBeGreaterThan(15);
  });

  it('are recorded from every kind of fact', () => {
    expect([...sentKinds].sort()).toEqual(factSchema.options.map(({ shape }) => shape.kind.value).sort());
  });

  it('name every table of tenants', () => {
    const named = new Set(listDistinct().flatMap((statement) => judge(statement).tables));
    expect([...named].sort()).toEqual(TENANT_TABLES.map(({ name }) => name).sort());
  });

  it('bind every reference to a tenant’s table to an integration', () => {
    const faulty = listDistinct().flatMap((statement) => {
      const { faults } = judge(statement);
      return faults.length > 0 && !NO_QUERY.test(statement.text) ? [{ text: flatten(statement.text), faults }] : [];
    });
    expect(faulty).toEqual([]);
  });

  it('use no integration except the one that acts', () => {
    const given = statements.flatMap((statement) =>
      judge(statement).anchors.map((anchor) => ({
        text: flatten(statement.text),
        integrations: [...new Set(readIntegrations(statement, anchor))],
      })),
    );
    expect(given.length).toBeGreaterThan(200);
    expect(given.filter(({ integrations }) => integrations.some((id) => id !== tenant.id))).toEqual([]);
  });

  it('span tenants only for a reason, and each reason is used and needed', () => {
    const excused = listDistinct().filter(({ text }) => findSpanning(text));
    expect(SPANNING.filter((one) => !excused.some(({ text }) => findSpanning(text) === one))).toEqual([]);
    expect(excused.filter(({ text }) => judgeStatement(text).faults.length === 0)).toEqual([]);
  });

  it('cannot lose a single comparison of integrations unnoticed', () => {
    const unnoticed = listDistinct().flatMap(({ text }) => {
      const spans = findSpanning(text)?.spans;
      const places = findComparedKeys(parseStatement(text)).length;
      return Array.from({ length: places }, (_, place) => {
        const tree = parseStatement(text);
        findComparedKeys(tree)[place]!.sval = 'elsewhere';
        return judgeStatement(tree, spans).faults.length > 0 ? [] : [{ text: flatten(text), place }];
      }).flat();
    });
    expect(unnoticed).toEqual([]);
    expect(listDistinct().flatMap(({ text }) => findComparedKeys(parseStatement(text))).length).toBeGreaterThan(100);
  });
});

interface ColumnName {
  sval: string;
}

/** Finds the names of integration columns that the conditions in a statement's tree compare. */
function findComparedKeys(tree: unknown, isCompared = false): ColumnName[] {
  if (typeof tree !== 'object' || tree === null) return [];
  const node = tree as Record<string, never>;
  if (node.ColumnRef) {
    const name: ColumnName | undefined = (node.ColumnRef as { fields: { String?: ColumnName }[] }).fields.at(
      -1,
    )?.String;
    return isCompared && name && /^(integration_id|integrationId)$/.test(name.sval) ? [name] : [];
  }
  // What leaves integrations out binds no statement to the others.
  if ((node.BoolExpr as { boolop?: string } | undefined)?.boolop === 'NOT_EXPR') return [];
  if (node.SubLink) {
    const { testexpr, subselect } = node.SubLink;
    return [...findComparedKeys(testexpr, true), ...findComparedKeys(subselect)];
  }
  if (node.A_Expr) return Object.values(node.A_Expr).flatMap((child) => findComparedKeys(child, true));
  return Object.values(node).flatMap((child) => findComparedKeys(child, isCompared));
}
