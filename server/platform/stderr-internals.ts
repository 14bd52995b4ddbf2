import type { Writable } from 'node:stream';

/**
 * Makes writes to a pipe or a socket fail at once while it is full. Node does that when it opens stderr, but a child that inherits it, as
 * that of a build, undoes it for all processes that have it. Node has no public way to do it again. A file has no handle.
 */
export function refuseToWait(stream: Writable): void {
  const { _handle: handle } = stream as Writable & { _handle?: { setBlocking(isBlocking: boolean): void } };
  handle?.setBlocking(false);
}
