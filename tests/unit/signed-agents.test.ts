import { createPublicKey } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isSignedBy,
  readPublicKey,
  readSignatures,
  writeSignatureBase,
} from '../../server/collector/message-signatures';
import { createAgentVerifier } from '../../server/collector/signed-agents';
import { type Message, SigningAgent, type Terms } from '../support/signing-agent';

const ORIGIN = 'https://agent.example';
const MESSAGE: Message = { method: 'POST', authority: 'bots.example', path: '/collect' };
const HOUR_MS = 3_600_000;
const silent = { warn: () => {} };

const toMessage = (headers: Record<string, string>, message = MESSAGE) => ({
  ...message,
  scheme: 'http',
  header(name: string) {
    // As in a web request, a name that no field can have is an error.
    new Headers().has(name);
    return headers[name] ?? null;
  },
});

/** The example of RFC 9421, B.2.6. */
const EXAMPLE = {
  jwk: { kty: 'OKP', crv: 'Ed25519', x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs' },
  message: toMessage(
    {
      date: 'Tue, 20 Apr 2021 02:07:55 GMT',
      'content-type': 'application/json',
      'content-length': '18',
      'signature-input':
        'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
      signature: 'sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:',
    },
    { method: 'POST', authority: 'example.com', path: '/foo' },
  ),
};

describe('a message signature', () => {
  it('is verified as the example of RFC 9421 is', () => {
    const key = createPublicKey({ key: EXAMPLE.jwk, format: 'jwk' });
    const [signature] = readSignatures(EXAMPLE.message);
    expect(writeSignatureBase(signature!, EXAMPLE.message)!.split('\n')).toEqual([
      '"date": Tue, 20 Apr 2021 02:07:55 GMT',
      '"@method": POST',
      '"@path": /foo',
      '"@authority": example.com',
      '"content-type": application/json',
      '"content-length": 18',
      '"@signature-params": ("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
    ]);
    expect(isSignedBy(key, signature!, EXAMPLE.message)).toBe(true);
    for (const changed of [{ method: 'GET' }, { path: '/bar' }, { authority: 'example.org' }])
      expect(isSignedBy(key, signature!, { ...EXAMPLE.message, ...changed })).toBe(false);
  });

  it('has the key whose thumbprint is that of RFC 8037, A.3', () => {
    const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
    const { thumbprint } = readPublicKey({ kty: 'OKP', crv: 'Ed25519', x })!;
    expect(thumbprint).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
    for (const jwk of [
      null,
      7,
      {},
      { kty: 'RSA', x },
      { kty: 'OKP', crv: 'X25519', x },
      { kty: 'OKP', crv: 'Ed25519', x: 'a' },
    ])
      expect(readPublicKey(jwk)).toBeNull();
  });

  it('is none if its input lists no components, although its bytes may be those of one', () => {
    const bytes = `sig1=:${Buffer.alloc(64).toString('base64')}:`;
    const read = (input: string) => readSignatures(toMessage({ 'signature-input': input, signature: bytes })).length;
    expect(read('sig1=("@authority")')).toBe(1);
    for (const input of ['sig1', 'sig1=1', 'sig1="@authority"', `sig1=(${'"x" '.repeat(33)})`])
      expect(read(input)).toBe(0);
  });

  it('is never read from anything else, and nothing throws', () => {
    const field = fc.oneof(
      fc.string({ maxLength: 60 }),
      fc.constantFrom(
        'sig1=()',
        'sig1=:AA==:',
        'a=("x" "x");tag="web-bot-auth"',
        `${'a=1,'.repeat(2_000)}b=1`,
        'sig1=("@authority";sf)',
      ),
    );
    const fields = fc.record({ 'signature-input': field, signature: field, 'signature-agent': field });
    fc.assert(
      fc.property(fields, (headers) => {
        const message = toMessage(headers);
        for (const signature of readSignatures(message)) writeSignatureBase(signature, message);
        const client = { get: async () => ({ kind: 'timeout' }) };
        expect(createAgentVerifier({ origins: [ORIGIN], client, log: silent }).verify(message)).toBeNull();
      }),
      { numRuns: 300 },
    );
  });
});

/** A verifier whose directory is served from memory, with a clock of its own. */
function setUp(agent = new SigningAgent(ORIGIN)) {
  const clock = { nowMs: Date.now() };
  const asked: string[] = [];
  const answer = { status: 200, body: agent.directory as string | null };
  const client = {
    get: async ({ url }: { url: string }) => {
      asked.push(url);
      const { status, body } = answer;
      return body === null ? { kind: 'timeout' } : { kind: 'response', status, body: Buffer.from(body) };
    },
  };
  const verifier = createAgentVerifier({ origins: [ORIGIN], client, log: silent, now: () => clock.nowMs });
  const verify = (headers: Record<string, string>, message = MESSAGE) => verifier.verify(toMessage(headers, message));
  /** Signs at the time of the clock. */
  const sign = (terms: Terms = {}) => agent.sign(MESSAGE, { created: Math.floor(clock.nowMs / 1_000), ...terms });
  const warm = async () => {
    verify(sign());
    await verifier.settle();
  };
  return { agent, verifier, verify, sign, warm, clock, asked, answer };
}

describe('an agent that signs', () => {
  it('is named by its host once its keys are known', async () => {
    const { verify, sign, verifier, asked } = setUp();
    expect(verify(sign())).toBeNull();
    await verifier.settle();
    expect(verify(sign())).toBe('agent.example');
    expect(asked).toEqual([`${ORIGIN}/.well-known/http-message-signatures-directory`]);
  });

  it.each<[string, Terms]>([
    ['covers more', { components: ['"@method"', '"@authority"', '"@path"', '"@target-uri"', '"signature-agent"'] }],
    ['has no nonce', { nonce: null }],
    ['names the agent for its label', { signatureAgent: `sig1="${ORIGIN}"` }],
    [
      'covers the agent of its label',
      { signatureAgent: `sig1="${ORIGIN}"`, components: ['"@authority"', '"signature-agent";key="sig1"'] },
    ],
    ['names a path of the agent', { signatureAgent: `"${ORIGIN}/"` }],
  ])('is named if its signature %s', async (_, terms) => {
    const { verify, sign, warm } = setUp();
    await warm();
    expect(verify(sign(terms))).toBe('agent.example');
  });

  const nowSeconds = () => Math.floor(Date.now() / 1_000);
  it.each<[string, Terms]>([
    ['does not cover the authority', { components: ['"signature-agent"'] }],
    ['does not cover the agent', { components: ['"@authority"'] }],
    ['covers something twice', { components: ['"@authority"', '"@authority"', '"signature-agent"'] }],
    ['covers what we do not know', { components: ['"@authority"', '"signature-agent"', '"@query-param";name="a"'] }],
    ['covers what no field can be named', { components: ['"@authority"', '"signature-agent"', '"a b"'] }],
    [
      'covers a member of what no field can be named',
      { components: ['"@authority"', '"signature-agent"', '"a b";key="a"'] },
    ],
    ['covers a field that is not there', { components: ['"@authority"', '"signature-agent"', '"x-nothing"'] }],
    ['has another tag', { tag: 'other' }],
    ['has another algorithm', { alg: 'rsa-v1_5-sha256' }],
    ['has expired', { created: nowSeconds() - 600, expires: nowSeconds() - 1 }],
    ['is of the future', { created: nowSeconds() + 3_600 }],
    ['is valid for more than a day', { expires: nowSeconds() + 86_400 + 600 }],
    ['ends within a second', { expires: nowSeconds() + 300.5 }],
    ['begins within one', { created: nowSeconds() - 0.5, expires: nowSeconds() + 300 }],
    ['names a key of nobody', { keyId: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k' }],
    ['names an agent that is not on the list', { signatureAgent: '"https://other.example"' }],
    ['names no address', { signatureAgent: '"agent"' }],
  ])('is not named if its signature %s', async (_, terms) => {
    const { verify, sign, warm } = setUp();
    await warm();
    expect(verify(sign())).toBe('agent.example');
    expect(verify(sign(terms))).toBeNull();
  });

  it('is not named if somebody else signed, or the signature was for another host or is changed', async () => {
    const { agent, verify, sign, warm } = setUp();
    await warm();
    const forger = new SigningAgent(ORIGIN);
    expect(verify(agent.sign(MESSAGE, {}, forger.keys.privateKey))).toBeNull();
    expect(verify(forger.sign(MESSAGE))).toBeNull();
    expect(verify(agent.sign({ ...MESSAGE, authority: 'evil.example' }))).toBeNull();
    const headers = sign();
    expect(
      verify({ ...headers, 'signature-input': headers['signature-input']!.replace('nonce="', 'nonce="A') }),
    ).toBeNull();
    expect(verify({ ...headers, signature: headers.signature!.replace(/:..../, ':AAAA') })).toBeNull();
    expect(verify(headers)).toBe('agent.example');
  });

  it('is named once for each signature', async () => {
    const { verify, sign, warm, clock } = setUp();
    await warm();
    for (const headers of [sign(), sign({ nonce: null })])
      expect([verify(headers), verify(headers)]).toEqual(['agent.example', null]);
    clock.nowMs += 301_000;
    expect(verify(sign())).toBe('agent.example');
  });

  it('keeps its keys while its directory is away for less than a day, which is asked at most once a minute', async () => {
    const { verify, sign, warm, clock, asked, answer, verifier } = setUp();
    await warm();
    answer.body = null;
    clock.nowMs += HOUR_MS;
    for (let i = 0; i < 3; i++) {
      expect(verify(sign())).toBe('agent.example');
      await verifier.settle();
    }
    expect(asked).toHaveLength(2);
    clock.nowMs += 60_000;
    verify(sign());
    await verifier.settle();
    expect(asked).toHaveLength(3);
    clock.nowMs += 24 * HOUR_MS;
    expect(verify(sign())).toBeNull();
  });

  it('may change its keys', async () => {
    const { verify, warm, clock, answer, verifier } = setUp();
    await warm();
    const later = new SigningAgent(ORIGIN);
    answer.body = later.directory;
    clock.nowMs += 61_000;
    const sign = () => later.sign(MESSAGE, { created: Math.floor(clock.nowMs / 1_000) });
    expect(verify(sign())).toBeNull();
    await verifier.settle();
    expect(verify(sign())).toBe('agent.example');
  });

  it.each([
    ['is no JSON', () => '{'],
    ['has no list of keys', () => '{"keys":{}}'],
    ['is null', () => 'null'],
    ['has an expired key', (agent: SigningAgent) => JSON.stringify({ keys: [{ ...agent.jwk, exp: 1_700_000_000 }] })],
    ['has other kinds of keys', () => JSON.stringify({ keys: [null, 7, { kty: 'RSA' }] })],
  ])('is not named if its directory %s', async (_, write) => {
    const { agent, verify, sign, verifier, answer } = setUp();
    answer.body = write(agent);
    verify(sign());
    await verifier.settle();
    expect(verify(sign())).toBeNull();
  });
});
