import { appendFile, readFile } from 'node:fs/promises';
import type { WebhookEvent } from '../../contract/webhook-events';
import type { Answer } from './server';

/**
 * A client that only polls `GET /v1/webhook-events`. It stores each page with the cursor behind it in a file, by one write. So it may be
 * killed at any moment, and another one goes on with the file: what was not stored is asked for again.
 */
export class EventPoller {
  readonly #file: string;
  readonly #path: string;
  #cursor: string | undefined;

  constructor(file: string, pageSize = 100) {
    this.#file = file;
    this.#path = `/v1/webhook-events?sort=oldest&pageSize=${pageSize}`;
  }

  /** Reads pages until there are no more. Stops at an answer that is none, as during a fault. */
  async poll(get: (path: string) => Promise<Answer | null>): Promise<void> {
    this.#cursor ??= (await this.#readPages()).at(-1)?.cursor;
    for (let hasMore = true; hasMore; ) {
      const cursor = this.#cursor;
      const answer = await get(cursor === undefined ? this.#path : `${this.#path}&cursor=${cursor}`);
      if (answer?.status !== 200) return;
      const { data, pagination } = answer.body;
      hasMore = pagination.hasMore;
      if (pagination.nextCursor === cursor) continue;
      await appendFile(this.#file, `${JSON.stringify({ cursor: pagination.nextCursor, events: data })}\n`);
      this.#cursor = pagination.nextCursor;
    }
  }

  /** Lists the stored events in the order in which they came. */
  async readEvents(): Promise<WebhookEvent[]> {
    return (await this.#readPages()).flatMap(({ events }) => events);
  }

  async #readPages(): Promise<{ cursor: string; events: WebhookEvent[] }[]> {
    const text = await readFile(this.#file, 'utf8').catch(() => '');
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }
}
