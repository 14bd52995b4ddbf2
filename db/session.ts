import postgres from 'postgres';
import { openSocket, type WatchedSocket } from './postgres-internals';
import { SESSION_SETTINGS } from './session-settings';
import { createQuery, type Query } from './transaction';

/** One connection for locks that last as long as it does. It is never replaced: after its end, every statement fails. */
export interface DatabaseSession {
  query: Query;
  /** Ends the connection, also if it does not answer. */
  close(): Promise<void>;
}

/**
 * Opens a session. `url` must reach Postgres itself: a transaction pooler gives each statement to another session. `onEnd` is
 * called if the connection ends without `close`.
 */
export function openSession(url: string, onEnd: () => void): DatabaseSession {
  const opened = new Set<WatchedSocket>();
  const socket = openSocket(url, opened);
  let isOver = false;
  const sql = postgres(url, {
    ...(socket ? { socket } : {}),
    max: 1,
    max_lifetime: null,
    fetch_types: false,
    connect_timeout: 2,
    onnotice: () => {},
    onclose: () => {
      if (isOver) return;
      isOver = true;
      onEnd();
    },
    // With these limits, Postgres notices within about ten seconds that the machine has vanished. Keepalives alone do not do it:
    // Linux sends none while an answer is not acknowledged.
    connection: {
      application_name: 'bot-detection-session',
      ...SESSION_SETTINGS,
      tcp_keepalives_idle: 5,
      tcp_keepalives_interval: 2,
      tcp_keepalives_count: 3,
      tcp_user_timeout: 10_000,
    },
  });
  const query = createQuery(sql);
  return {
    query: (text, parameters) =>
      isOver
        ? Promise.reject(Object.assign(new Error('the session is over'), { code: 'CONNECTION_CLOSED' }))
        : query(text, parameters),
    async close() {
      isOver = true;
      await sql.end({ timeout: 0 });
      for (const left of opened) left.destroy();
    },
  };
}
