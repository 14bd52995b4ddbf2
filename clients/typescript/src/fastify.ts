import { type ReceiverOptions, readBody, receiveDelivery } from './webhooks.js';

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
  /** Of its overloads TypeScript compares the last alone, which is not the one that is used. */
  addContentTypeParser(...parameters: never): unknown;
  post(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): unknown;
}

type AddParser = (type: string, parse: (request: unknown, body: AsyncIterable<Uint8Array>) => Promise<unknown>) => void;

/**
 * A plugin of Fastify for deliveries: `app.register(receiveWebhooks, { path: '/webhooks', secrets, onDelivery })`. It keeps the raw body
 * of its route only. Answers 204, or 400 or 401 for what is not genuine. What `onDelivery` throws becomes a 500.
 */
export async function receiveWebhooks(
  app: FastifyInstance,
  options: ReceiverOptions & { path: string },
): Promise<void> {
  app.removeAllContentTypeParsers();
  const { addContentTypeParser } = app as unknown as { addContentTypeParser: AddParser };
  addContentTypeParser.call(app, '*', (_request, body) => readBody(body));
  app.post(options.path, async ({ headers, body }, reply) => {
    // Undefined if there is no body, null if it is too large.
    const raw = body === undefined ? '' : (body as Uint8Array | null);
    const { status, text } = await receiveDelivery(options, { body: raw, headers });
    return reply.code(status).type('text/plain').send(text);
  });
}
