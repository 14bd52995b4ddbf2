/** What an endpoint for forms says about a refused one, in the form that `findFault` and `describeError` read. */
interface FormRefusal {
  message: string;
  data: { code: string; httpStatus: number; field?: string };
}

/**
 * Posts a form to an endpoint of this host, for the account that the page shows, if it shows one. Throws what the endpoint refused; a plain
 * error if the server could not be reached.
 */
export async function postForm<Result>(path: string, body: object, staffId?: string): Promise<Result> {
  const headers = { 'content-type': 'application/json', ...(staffId && { 'x-staff-id': staffId }) };
  const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  const answer = (response.status === 204 ? {} : await response.json()) as Result & { error?: FormRefusal };
  if (answer.error) throw Object.assign(new Error(answer.error.message), { data: answer.error.data });
  return answer;
}
