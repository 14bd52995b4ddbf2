import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import {
  type InnerList,
  type Item,
  isInnerList,
  parseDictionary,
  parseItem,
  serializeInnerList,
  serializeItem,
} from 'structured-headers';

// HTTP message signatures (RFC 9421) of requests, as far as agents use them: Ed25519, a few derived components, and fields.

/** What of a request a signature can cover. */
export interface SignedMessage {
  method: string;
  scheme: string;
  /** The host in lower case, with its port unless that is the scheme's own. */
  authority: string;
  path: string;
  /** A field's value; null if the request has none. */
  header(name: string): string | null;
}

export interface MessageSignature {
  label: string;
  /** The covered components, and the parameters of the signature. */
  input: InnerList;
  bytes: Uint8Array;
}

const MAX_FIELD_LENGTH = 4_096;
/** A request has one or two. Each one that is checked costs a tenth of a millisecond. */
const MAX_SIGNATURES = 4;
const MAX_COMPONENTS = 32;
const SIGNATURE_BYTES = 64;

/** Reads the signatures of a request. Returns none if a field is missing, too long or not well-formed. Never throws. */
export function readSignatures(message: SignedMessage): MessageSignature[] {
  const inputs = readDictionary(message.header('signature-input'));
  const values = readDictionary(message.header('signature'));
  if (!inputs || !values || inputs.size > MAX_SIGNATURES) return [];
  const signatures: MessageSignature[] = [];
  for (const [label, input] of inputs) {
    const [bytes] = values.get(label) ?? [];
    if (!isInnerList(input) || input[0].length > MAX_COMPONENTS || !(bytes instanceof ArrayBuffer)) continue;
    if (bytes.byteLength === SIGNATURE_BYTES) signatures.push({ label, input, bytes: new Uint8Array(bytes) });
  }
  return signatures;
}

export function readDictionary(field: string | null): Map<string, Item | InnerList> | null {
  if (field === null || field.length > MAX_FIELD_LENGTH) return null;
  try {
    return parseDictionary(field);
  } catch {
    return null;
  }
}

/** Reads a field that is one string. Null if it is something else. */
export function readText(field: string | null): string | null {
  if (field === null || field.length > MAX_FIELD_LENGTH) return null;
  try {
    const [value] = parseItem(field);
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}

/** Whether a signature covers a component. */
export const coversComponent = ({ input: [components] }: MessageSignature, name: string): boolean =>
  components.some(([component]) => component === name);

/** Writes what was signed. Null if the request lacks a covered component, or it is of a kind that we do not know. */
export function writeSignatureBase({ input }: MessageSignature, message: SignedMessage): string | null {
  const lines: string[] = [];
  const names = new Set<string>();
  for (const component of input[0]) {
    const name = serializeItem(component);
    const value = readComponent(component, message);
    // Each component is covered once, and a value with a line break would be two lines.
    if (value === null || names.has(name) || /[\r\n]/.test(value)) return null;
    names.add(name);
    lines.push(`${name}: ${value}`);
  }
  return [...lines, `"@signature-params": ${serializeInnerList(input)}`].join('\n');
}

/** The name of a field in lower case, or of a derived component. Servers take no other name when they look up a field. */
const COMPONENT_NAME = /^@?[a-z\d!#$%&'*+.^_`|~-]+$/;

function readComponent([name, parameters]: Item, message: SignedMessage): string | null {
  if (typeof name !== 'string' || !COMPONENT_NAME.test(name)) return null;
  const key = parameters.get('key');
  if (key !== undefined) {
    const member = parameters.size === 1 ? readDictionary(message.header(name))?.get(String(key)) : undefined;
    return member === undefined ? null : isInnerList(member) ? serializeInnerList(member) : serializeItem(member);
  }
  if (parameters.size > 0) return null;
  const { method, scheme, authority, path } = message;
  switch (name) {
    case '@method':
      return method;
    case '@authority':
      return authority;
    case '@scheme':
      return scheme;
    case '@path':
      return path;
    case '@target-uri':
      return `${scheme}://${authority}${path}`;
    default:
      return name.startsWith('@') ? null : (message.header(name)?.trim() ?? null);
  }
}

/** Whether the owner of a key signed a request. */
export function isSignedBy(key: KeyObject, signature: MessageSignature, message: SignedMessage): boolean {
  const base = writeSignatureBase(signature, message);
  return base !== null && verify(null, Buffer.from(base, 'latin1'), key, signature.bytes);
}

const KEY_TEXT = /^[A-Za-z0-9_-]{43}$/;

/** Reads a public Ed25519 key from its JWK, with its thumbprint (RFC 7638). Null if it is none. */
export function readPublicKey(jwk: unknown): { thumbprint: string; key: KeyObject } | null {
  const { kty, crv, x } = (typeof jwk === 'object' && jwk !== null ? jwk : {}) as Record<string, unknown>;
  if (kty !== 'OKP' || crv !== 'Ed25519' || typeof x !== 'string' || !KEY_TEXT.test(x)) return null;
  try {
    const key = createPublicKey({ key: { kty, crv, x }, format: 'jwk' });
    const thumbprint = createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url');
    return { thumbprint, key };
  } catch {
    return null;
  }
}
