import type { Socket } from 'node:net';
import type { ConnectionOptions, TLSSocket } from 'node:tls';

// Replaces the connect functions of node:net and node:tls, so that no test leaves this machine: a public address leads
// to a receiver on the loopback, or nowhere.

/** Every dialled address, as `address port`, in order. */
export const dialled: string[] = [];
/** Public or forbidden address → the loopback port to which it leads. */
export const detours = new Map<string, number>();
/** Ports that are connected to directly and not recorded: the database's, in tests of the whole product. */
export const passed = new Set<number>();
/** The authority that certificates of receivers are trusted by, instead of the public ones. */
export const trust: { authority: string | null } = { authority: null };
/** An address that never answers. */
export const SILENT = '127.9.9.9';

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1)$/;

export function resetConnector(): void {
  dialled.length = 0;
  detours.clear();
  trust.authority = null;
}

/** For `vi.mock('node:net', …)`. */
export function divertNet(net: typeof import('node:net')) {
  const connect = (to: { host: string; port: number }): Socket => {
    if (passed.has(to.port)) return net.connect(to);
    return dial(to.host, to.port) ? net.connect(findWay(to)) : new net.Socket();
  };
  return { ...net, connect };
}

/** For `vi.mock('node:tls', …)`. */
export function divertTls(tls: typeof import('node:tls')) {
  const connect = (options: ConnectionOptions): TLSSocket => {
    const to = { host: options.host!, port: options.port! };
    dial(to.host, to.port);
    return tls.connect({ ...options, ...findWay(to), ...(trust.authority ? { ca: trust.authority } : {}) });
  };
  return { ...tls, connect };
}

/** Records a dialled address. Returns false if nothing will ever answer there. */
function dial(host: string, port: number): boolean {
  dialled.push(`${host} ${port}`);
  return host !== SILENT || detours.has(host);
}

function findWay({ host, port }: { host: string; port: number }): { host: string; port: number } {
  const detour = detours.get(host);
  if (detour !== undefined) return { host: '127.0.0.1', port: detour };
  if (!LOOPBACK.test(host)) throw new Error(`would have left this machine: ${host}`);
  return { host, port };
}
