/**
 * Writes the address at which a browser on this machine opens a server that listens on this host and port. The zone of an IPv6 address
 * (`%eth0`) is not allowed in it.
 */
export function writeLocalAddress(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.split('%')[0]!;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
