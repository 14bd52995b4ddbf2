import { type ReceiverOptions, readBody, receiveDelivery } from './webhooks.js';

/**
 * Makes a route handler of Next for deliveries: `export const POST = receiveWebhooks({ … })`. It works wherever a handler takes a
 * Request and returns a Response. Answers 204, or 400 or 401 for what is not genuine. What `onDelivery` throws is thrown, and
 * becomes a 500.
 */
export function receiveWebhooks(options: ReceiverOptions) {
  return async ({ body, headers }: Request): Promise<Response> => {
    const { status, text } = await receiveDelivery(options, { body: body ? await readBody(body) : '', headers });
    return new Response(status === 204 ? null : text, { status });
  };
}
