import type { TLSSocket } from 'node:tls';

/**
 * Calls back with the dates of the peer's certificate (ISO 8601) before TLS judges it. Node's errors about certificates do not have
 * them, and after such an error the socket has forgotten its certificate. The event `secure`, which is emitted between the handshake and
 * the judgement, is not documented for clients. Without it there would be no dates; the judgement does not depend on it.
 */
export function readCertificateDates(
  socket: TLSSocket,
  onDates: (dates: { from: string; until: string }) => void,
): TLSSocket {
  return socket.prependOnceListener('secure', () => {
    const { valid_from: from, valid_to: until } = socket.getPeerCertificate() ?? {};
    const [fromMs, untilMs] = [Date.parse(from), Date.parse(until)];
    if (Number.isNaN(fromMs) || Number.isNaN(untilMs)) return;
    onDates({ from: new Date(fromMs).toISOString(), until: new Date(untilMs).toISOString() });
  });
}
