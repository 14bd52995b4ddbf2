import { appRouter } from '../../server/procedures/router';
import type { TestServer } from './server';

/** Creates a caller of the procedures, as the dashboard calls them, for the integration of a key. */
export async function createCaller({ service }: TestServer, key: string) {
  const verified = await service.verifyKey({ scheme: 'bearer', key });
  if (!verified) throw new Error('the key is not valid');
  return appRouter.createCaller({ service, caller: { kind: 'api-key', verified } });
}
export type Caller = Awaited<ReturnType<typeof createCaller>>;
