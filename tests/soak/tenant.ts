import { randomUUID } from 'node:crypto';
import type { Random } from '../../server/demo/session-facts';
import { EventPoller } from '../support/event-poller';
import { closed, correlated, happened, scored, started } from '../support/facts';
import type { Tenant } from '../support/site';

const BOT_AT = 0.7;
const DEVICES = 50;
const USERS = 40;
const EVENTS = 3;
const PAGE_SIZE = 5;

interface SentSession {
  botScore: number;
  userId: string | null;
  verdict: 'bot' | 'human' | null;
}

/** A tenant that records what was sent and acknowledged. From that follows what the API must report in the end. */
export class SoakTenant {
  readonly id: string;
  readonly key: string;
  /** Sessions that the pipeline's endpoint accepted, by id. */
  readonly sessions = new Map<string, SentSession>();
  readonly confirmed = new Set<string>();
  /** Sessions that a writer is labelling. */
  readonly busy = new Set<string>();
  readonly #ids: string[] = [];
  readonly #random: Random;
  readonly #eventsFile: string;
  /** Polls the webhook events, in small pages. */
  poller: EventPoller;

  /** `eventsFile` is the disk of the client that polls. */
  constructor({ id, key }: Tenant, random: Random, eventsFile: string) {
    this.id = id;
    this.key = key;
    this.#random = random;
    this.#eventsFile = eventsFile;
    this.poller = new EventPoller(eventsFile, PAGE_SIZE);
  }

  restartPoller(): void {
    this.poller = new EventPoller(this.#eventsFile, PAGE_SIZE);
  }

  /** Makes the facts of some sessions. Call `take` once the endpoint has accepted them. */
  makeBatch(count: number): { facts: unknown[]; take(): void } {
    const sent = Array.from({ length: count }, () => this.#makeSession());
    return {
      facts: sent.flatMap(({ facts }) => facts),
      take: () => {
        for (const { id, session } of sent) this.sessions.set(id, session);
        this.#ids.push(...sent.map(({ id }) => id));
      },
    };
  }

  #makeSession() {
    const id = randomUUID();
    const random = this.#random;
    const botScore = Math.round(random() * 1_000) / 1_000;
    const userId = random() < 0.6 ? `user-${Math.floor(random() * USERS)}` : null;
    const facts = [
      started(id, { deviceFingerprint: `device-${Math.floor(random() * DEVICES)}` }),
      happened(
        id,
        Array.from({ length: EVENTS }, (_, n) => ({ sequence: n + 1 })),
      ),
      closed(id),
      ...(userId === null ? [] : [correlated(id, userId)]),
      scored(id, botScore),
    ];
    return { id, facts, session: { botScore, userId, verdict: null } satisfies SentSession };
  }

  /** Picks a session that the endpoint accepted. */
  pickSession(): string | undefined {
    return this.#ids[Math.floor(this.#random() * this.#ids.length)];
  }

  /** Lists the sessions that fire BotDetected: by their score, whatever label they get later. */
  listBots(): string[] {
    return [...this.sessions].filter(([, { botScore }]) => botScore >= BOT_AT).map(([id]) => id);
  }

  /** The counts that `/v1/stats` must report. */
  expectStats(): Record<string, number> {
    const all = [...this.sessions.values()];
    const count = (holds: (session: SentSession) => boolean) => all.filter(holds).length;
    return {
      totalSessions: all.length,
      activeSessions: 0,
      totalEvents: all.length * EVENTS,
      totalUsers: new Set(all.flatMap(({ userId }) => userId ?? [])).size,
      matchedSessions: count(({ userId }) => userId !== null),
      botSessions: count(({ verdict, botScore }) => (verdict === null ? botScore >= BOT_AT : verdict === 'bot')),
      labeledBot: count(({ verdict }) => verdict === 'bot'),
      labeledHuman: count(({ verdict }) => verdict === 'human'),
      confirmedDevices: this.confirmed.size,
    };
  }
}
