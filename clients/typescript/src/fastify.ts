import { type ReceiverOptions, receiveDelivery } from './webhooks.js';

interface FastifyRequest {
  headers: Record<string, string | string[] | undefined>;
  body: unknown;
}

interface FastifyReply {
  code(status: number): { type(name: string): { send(text: string): unknown } };
}

/** What is needed of an instance of Fastify 4 or 5. */
export interface FastifyInstance {
  removeAllContentTypeParsers(): unknown;
  addContentTypeParser(
    contentType: string,
    options: { parseAs: 'buffer' },
    parser: (request: never, body: Uint8Array, done: (error: null, body: Uint8Array) => void) => void,
  ): unknown;
  post(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): unknown;
}

/**
 * A plugin of Fastify for deliveries: `app.register(receiveWebhooks, { path: '/webhooks', secrets, onDelivery })`. It keeps the raw body
 * of its own route only. Answers 204, or 400 or 401 for what is not genuine. What `onDelivery` throws becomes a 500.
 */
export async function receiveWebhooks(
  app: FastifyInstance,
  options: ReceiverOptions & { path: string },
): Promise<void> {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.post(options.path, async ({ headers, body }, reply) => {
    // Without a content type there is no body.
    const raw = body instanceof Uint8Array ? body : '';
    const { status, text } = await receiveDelivery(options, { body: raw, headers });
    return reply.code(status).type('text/plain').send(text);
  });
}
