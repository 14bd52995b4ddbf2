import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

// An agent that signs its requests (Web Bot Auth), written from the drafts without the code under test.

export interface Terms {
  label?: string;
  components?: string[];
  created?: number;
  expires?: number;
  nonce?: string | null;
  tag?: string;
  alg?: string;
  keyId?: string;
  /** What the header says; the origin of the agent as a string if not given. */
  signatureAgent?: string;
}

export interface Message {
  method: string;
  authority: string;
  path: string;
}

export class SigningAgent {
  readonly keys = generateKeyPairSync('ed25519');
  readonly jwk = this.keys.publicKey.export({ format: 'jwk' }) as { crv: string; kty: string; x: string };

  constructor(public origin: string) {}

  get thumbprint(): string {
    const { crv, kty, x } = this.jwk;
    return createHash('sha256').update(`{"crv":"${crv}","kty":"${kty}","x":"${x}"}`).digest('base64url');
  }

  get directory(): string {
    return JSON.stringify({ keys: [{ ...this.jwk, use: 'sig', nbf: 1_700_000_000 }] });
  }

  /** The three headers of a signed request. */
  sign(message: Message, terms: Terms = {}, key: KeyObject = this.keys.privateKey): Record<string, string> {
    const nowSeconds = Math.floor(Date.now() / 1_000);
    const {
      label = 'sig1',
      components = ['"@authority"', '"signature-agent"'],
      created = nowSeconds,
      expires = created + 300,
      nonce = randomBytes(48).toString('base64'),
      tag = 'web-bot-auth',
      alg = 'ed25519',
      keyId = this.thumbprint,
      signatureAgent = `"${this.origin}"`,
    } = terms;
    const values: Record<string, string> = {
      '"@authority"': message.authority,
      '"@method"': message.method,
      '"@path"': message.path,
      '"@target-uri"': `http://${message.authority}${message.path}`,
      '"signature-agent"': signatureAgent,
      [`"signature-agent";key="${label}"`]: signatureAgent.split('=').slice(1).join('='),
    };
    const parameters = [
      `(${components.join(' ')})`,
      `created=${created}`,
      `expires=${expires}`,
      `keyid="${keyId}"`,
      `alg="${alg}"`,
      ...(nonce === null ? [] : [`nonce="${nonce}"`]),
      `tag="${tag}"`,
    ].join(';');
    const lines = components.map((name) => `${name}: ${values[name] ?? ''}`);
    const base = [...lines, `"@signature-params": ${parameters}`].join('\n');
    return {
      'signature-agent': signatureAgent,
      'signature-input': `${label}=${parameters}`,
      signature: `${label}=:${sign(null, Buffer.from(base), key).toString('base64')}:`,
    };
  }
}
