import { expect } from 'vitest';
import { FINDING_RULES } from '../../contract/findings';
import type { Plan } from '../../contract/tiers';
import { findingRules } from '../../db/schema';
import type { Answer, TestServer } from './server';

export interface Counts {
  accepted: number;
  duplicates: number;
  suppressed: number;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies freely
type Json = any;

/** Makes a path of encoded segments: `pathOf('v1', 'users', 'a/b', 'sessions')`. */
export const pathOf = (...segments: string[]) => segments.map((one) => `/${encodeURIComponent(one)}`).join('');

/** An integration with its key, and the pipeline that sends its facts. */
export class Customer {
  readonly #server: TestServer;
  readonly id: string;
  readonly key: string;

  private constructor(server: TestServer, { id, key }: { id: string; key: string }) {
    this.#server = server;
    this.id = id;
    this.key = key;
  }

  /** Creates a customer. With `facts`, all of them must be accepted. */
  static async create(server: TestServer, facts: unknown[] = [], plan: Plan = 'enterprise'): Promise<Customer> {
    const customer = new Customer(server, await server.createTenant(plan));
    if (facts.length > 0) await customer.accept(facts);
    return customer;
  }

  /** Switches off all rules on findings, for tests of what facts say alone. */
  async switchOffFindings(): Promise<void> {
    const { db } = this.#server.database;
    for (const rule of FINDING_RULES)
      await db.orm.insert(findingRules).values({ integrationId: this.id, rule, isEnabled: false });
  }

  get(path: string): Promise<Answer> {
    return this.#server.call('GET', path, { key: this.key });
  }

  post(path: string, body?: unknown): Promise<Answer> {
    return this.#server.call('POST', path, { key: this.key, body });
  }

  put(path: string, body: unknown): Promise<Answer> {
    return this.#server.call('PUT', path, { key: this.key, body });
  }

  /** Reads the `data` of a GET that succeeds. */
  async read(path: string): Promise<Json> {
    const { status, body } = await this.get(path);
    expect([path, status, body.error]).toEqual([path, 200, undefined]);
    return body.data;
  }

  session(id: string): Promise<Json> {
    return this.read(pathOf('v1', 'sessions', id));
  }

  async label(sessionId: string, body: unknown): Promise<Json> {
    const answer = await this.post(`${pathOf('v1', 'sessions', sessionId)}/label`, body);
    expect([answer.status, answer.body.error]).toEqual([200, undefined]);
    return answer.body.data;
  }

  async confirm(userId: string, fingerprint: string, body?: unknown): Promise<Json> {
    const answer = await this.post(pathOf('v1', 'users', userId, 'devices', fingerprint, 'confirm'), body);
    expect([answer.status, answer.body.error]).toEqual([200, undefined]);
    return answer.body.data;
  }

  async setThresholds(mediumAt: number, botAt: number): Promise<void> {
    const answer = await this.put('/v1/settings/risk-thresholds', { mediumAt, botAt });
    expect([answer.status, answer.body]).toEqual([200, { data: { mediumAt, botAt } }]);
  }

  /** Reads a whole paginated collection in its order. */
  async readAll(path: string): Promise<Json[]> {
    const items: Json[] = [];
    for (let cursor: string | undefined; ; ) {
      const query = new URLSearchParams({ pageSize: '100', ...(cursor === undefined ? {} : { cursor }) });
      const { status, body } = await this.get(`${path}${path.includes('?') ? '&' : '?'}${query}`);
      expect([path, status, body.error]).toEqual([path, 200, undefined]);
      items.push(...body.data);
      if (!body.pagination.hasMore) return items;
      cursor = body.pagination.nextCursor;
    }
  }

  /** Sends a batch to the pipeline's endpoint. */
  ingest(facts: unknown[]): Promise<Answer> {
    return this.#server.ingest(this.id, facts);
  }

  /** Sends a batch that must be taken. */
  async tell(facts: unknown[]): Promise<Counts> {
    const { status, body } = await this.ingest(facts);
    expect([status, body.error]).toEqual([200, undefined]);
    return body.result.data;
  }

  /** Sends facts that must all be new. */
  async accept(facts: unknown[]): Promise<void> {
    expect(await this.tell(facts)).toEqual({ accepted: facts.length, duplicates: 0, suppressed: 0 });
  }
}
