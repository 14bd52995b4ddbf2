/** Writes the address at which a browser on this machine opens a server that listens on this host and port. */
export function writeLocalAddress(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
