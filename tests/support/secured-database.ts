import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';

export const readCertificate = (file: string) => readFileSync(`tests/support/certificates/${file}`, 'utf8');

/** Starts a server that encrypts the way to a Postgres without TLS. `stop` ends all connections and takes no more. */
export async function startEncryptedRelay(toPort: number) {
  const secureContext = createSecureContext({
    cert: readCertificate('self-signed.pem'),
    key: readCertificate('self-signed.key'),
  });
  const peers = new Set<Socket>();
  const server = createServer((peer) => {
    peers.add(peer.on('error', () => {}).on('close', () => peers.delete(peer)));
    peer.once('data', () => {
      peer.write('S');
      const secured = new TLSSocket(peer, { isServer: true, secureContext }).on('error', () => {});
      const postgres = connect(toPort, '127.0.0.1').on('error', () => {});
      secured.pipe(postgres).pipe(secured);
      secured.on('close', () => postgres.destroy());
    });
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const port = await listen(0);
  return {
    port,
    restore: () => listen(port),
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const peer of peers) peer.destroy();
      await closed;
    },
  };
}

/**
 * Starts a server that agrees to TLS as Postgres does, shows a certificate, and hangs up at the first message. Null: it goes on
 * without TLS, as Postgres with `ssl = off`.
 */
export async function startSecuredDatabase(shown: { cert: string; key: string } | null) {
  const names: unknown[] = [];
  const secureContext =
    shown && createSecureContext({ cert: readCertificate(shown.cert), key: readCertificate(shown.key) });
  const server = createServer((peer) => {
    peer.on('error', () => {});
    peer.once('data', () => {
      peer.write(secureContext ? 'S' : 'N');
      if (!secureContext) return peer.once('data', () => peer.end('E\0\0\0\0'));
      const secured = new TLSSocket(peer, { isServer: true, secureContext }).on('error', () => {});
      secured.once('data', () => {
        names.push(secured.servername);
        secured.destroy();
      });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgres://nobody@127.0.0.1:${port}/none`,
    /** The names that clients asked for: false if they asked for none. */
    names,
    stop: () => server.close(),
  };
}
