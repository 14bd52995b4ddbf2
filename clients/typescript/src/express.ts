import { type ReceiverOptions, readBody, receiveDelivery } from './webhooks.js';

/** What is needed of a request of Express 4 or 5. */
export interface ExpressRequest extends AsyncIterable<Uint8Array> {
  headers: Record<string, string | string[] | undefined>;
  body?: unknown;
  readableDidRead: boolean;
}

/** What is needed of a response of Express. */
export interface ExpressResponse {
  status(code: number): { type(name: string): { send(text: string): unknown } };
}

/**
 * Makes a handler of Express for deliveries: `app.post('/webhooks', receiveWebhooks({ … }))`. It reads the raw body itself, so it stands
 * before `express.json()`; after `express.raw()` or `express.text()` it takes their body. Answers 204, or 400 or 401 for what is
 * not genuine. What `onDelivery` throws goes to `next`.
 */
export function receiveWebhooks(options: ReceiverOptions) {
  return async (request: ExpressRequest, response: ExpressResponse, next: (error?: unknown) => void): Promise<void> => {
    try {
      const body = await takeBody(request);
      const { status, text } = await receiveDelivery(options, { body, headers: request.headers });
      response.status(status).type('text/plain').send(text);
    } catch (error) {
      next(error);
    }
  };
}

/** Returns the raw body, or null if it is too large. */
async function takeBody(request: ExpressRequest): Promise<string | Uint8Array | null> {
  if (typeof request.body === 'string' || request.body instanceof Uint8Array) return request.body;
  if (request.readableDidRead)
    throw new Error('the raw body of a webhook was already parsed; put receiveWebhooks before express.json()');
  return readBody(request);
}
