/**
 * Reads the first piece of a stream, so that a refusal is an answer and not a broken connection. Who goes on reads from the first
 * piece; who does not must end it, which runs what the generator has to clean up.
 */
export async function openStream<Piece>(pieces: AsyncGenerator<Piece, void, undefined>): Promise<AsyncIterable<Piece>> {
  const first = await pieces.next();
  let isFirst = true;
  const next = async () => {
    if (!isFirst) return pieces.next();
    isFirst = false;
    return first;
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: () => pieces.return() }) };
}
