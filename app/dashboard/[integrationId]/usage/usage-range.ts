/** The days that a page's query names; the API's own default otherwise. What is wrong is for the API to say. */
export const readRange = (search: URLSearchParams) => ({
  startDate: search.get('startDate') ?? undefined,
  endDate: search.get('endDate') ?? undefined,
});
