/** How the parts of the list of visited pages follow each other, on the server and in the browser. */
export const VISITED_PAGES = {
  getNextPageParam: ({ nextCursor }: { nextCursor: number | null }) => nextCursor ?? undefined,
};
