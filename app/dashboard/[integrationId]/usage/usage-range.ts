/** Reads the range of days from a page's query. The API supplies the default and reports invalid values. */
export const readRange = (search: URLSearchParams) => ({
  startDate: search.get('startDate') ?? undefined,
  endDate: search.get('endDate') ?? undefined,
});
