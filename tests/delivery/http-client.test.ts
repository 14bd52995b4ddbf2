import { vi } from 'vitest';
import { registerAddressTests } from './http-client/addresses';
import { registerExchangeTests } from './http-client/exchanges';
import { registerFailureTests } from './http-client/failures';
import { endAfterEach } from './http-client/receivers';
import { registerTlsTests } from './http-client/tls';

vi.mock('node:net', async (original) => (await import('../support/connector')).divertNet(await original()));

endAfterEach();
registerExchangeTests();
registerAddressTests();
registerFailureTests();
registerTlsTests();
