import { connect, type Socket } from 'node:net';

// HTTP written by hand on bare sockets: the client shares the machine with what it measures, so it must cost almost
// nothing.

/** A keep-alive connection that sends one request at a time. */
export class Connection {
  readonly #socket: Socket;
  #received = '';
  #settle: { resolve(answer: string): void; reject(error: Error): void } | null = null;

  constructor(url: URL, onClosed: (connection: Connection) => void = () => {}) {
    this.#socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text) => this.#read(String(text)));
    this.#socket.on('error', (error) => this.#end(error));
    this.#socket.on('close', () => {
      this.#end(new Error('the server closed the connection'));
      onClosed(this);
    });
  }

  get isClosed() {
    return this.#socket.destroyed || this.#socket.readableEnded;
  }

  /** Sends the text of a request and resolves when the whole answer has arrived. Rejects unless it is 200. */
  async send(request: string): Promise<void> {
    const answer = await this.#exchange(request);
    if (!answer.startsWith('HTTP/1.1 200 ')) throw new Error(`the server answered ${answer}`);
  }

  /** Sends the text of a request and resolves with the status of the whole answer, whatever it is. */
  async ask(request: string): Promise<number> {
    return Number((await this.#exchange(request)).slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length));
  }

  #exchange(request: string): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close() {
    this.#socket.destroy();
  }

  #read(text: string) {
    this.#received = this.#received === '' ? text : this.#received + text;
    if (!isWholeAnswer(this.#received)) return;
    const [answer, settle] = [this.#received, this.#settle];
    this.#received = '';
    this.#settle = null;
    settle?.resolve(answer);
  }

  #end(error: Error) {
    const settle = this.#settle;
    this.#settle = null;
    settle?.reject(error);
  }
}

const LENGTH = /\r\ncontent-length: *(\d+)/i;

/** Checks by the content length, or for a chunked answer by the empty last chunk. */
function isWholeAnswer(received: string): boolean {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd === -1) return false;
  if (received.startsWith('HTTP/1.1 204 ')) return true;
  const length = LENGTH.exec(received.slice(0, headEnd))?.[1];
  if (length === undefined) return received.endsWith('\r\n0\r\n\r\n');
  return received.length >= headEnd + 4 + Number(length);
}

/**
 * Opens connections and asks each for its health once. A server of Node accepts one connection a turn of its event loop, so
 * a connection that is opened under load waits long before its first request is read.
 */
export async function openConnections(url: URL, count: number, onClosed?: (connection: Connection) => void) {
  const connections = Array.from({ length: count }, () => new Connection(url, onClosed));
  const request = `GET /health HTTP/1.1\r\nhost: ${url.host}\r\n\r\n`;
  await Promise.all(connections.map((connection) => connection.ask(request)));
  return connections;
}
