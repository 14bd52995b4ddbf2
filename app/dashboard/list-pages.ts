/** How the pages of a keyset list follow each other. */
export const PAGES = {
  getNextPageParam: ({ pagination }: { pagination: { nextCursor?: string | undefined } }) => pagination.nextCursor,
};
