import type { Anomaly } from '../../contract/findings';
import type { Fact } from '../../server/pipeline/facts';
import { Customer } from './customer';
import type { TestServer } from './server';
import { createCaller } from './staff';
import { makeVisit, type VisitFields } from './visits';

/** A customer whose visits are told one after the other, each judged before the next one. */
export class Campus {
  readonly #server: TestServer;
  readonly customer: Customer;

  private constructor(server: TestServer, customer: Customer) {
    this.#server = server;
    this.customer = customer;
  }

  static create = async (server: TestServer) => new Campus(server, await Customer.create(server));

  /** Sends facts and has them judged. */
  async send(facts: Fact[]): Promise<void> {
    await this.customer.tell(facts);
    await this.#server.service.findings.flush();
  }

  /** Sends visits and answers all anomalies. */
  async visit(...visits: VisitFields[]): Promise<Anomaly[]> {
    for (const fields of visits) await this.send(makeVisit(fields));
    return this.listAnomalies();
  }

  /** As visit, in short. */
  listTypes = async (...visits: VisitFields[]) => shorten(await this.visit(...visits));

  /** Lists the anomalies, oldest first. */
  async listAnomalies(): Promise<Anomaly[]> {
    const { data } = await (await createCaller(this.#server, this.customer.key)).anomalies.list({ pageSize: 100 });
    return data.reverse();
  }
}

/** Says each anomaly in three words. */
export const shorten = (anomalies: Anomaly[]) =>
  anomalies.map(({ anomalyType, severity, userId }) => `${anomalyType} ${severity} ${userId}`);
