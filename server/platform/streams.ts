/**
 * Reads the first piece of a stream, so that a refusal is an answer and not a broken connection. The caller either reads on from
 * the first piece or must end the stream, which runs the generator's clean-up.
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
