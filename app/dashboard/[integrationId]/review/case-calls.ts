/** So many cases are read with one call. */
export const CASES_PER_CALL = 10;

/** Lists the ids of the cases that one call reads, by the place of one of them. */
export const listTogether = (sessions: readonly { id: string }[], place: number): string[] => {
  const from = place - (place % CASES_PER_CALL);
  return sessions.slice(from, from + CASES_PER_CALL).map(({ id }) => id);
};
