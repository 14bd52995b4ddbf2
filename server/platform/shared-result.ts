/** Makes a function that does its work once and shares the result. After a failure the next call does it again. */
export function shareResult<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | null = null;
  return () => {
    result ??= work().catch((error: unknown) => {
      result = null;
      throw error;
    });
    return result;
  };
}
