import { isDeepStrictEqual } from 'node:util';
import { type Direction, entriesOf, get, type Json, resolve, SchemaComparison, show } from './schema-compatibility';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

/**
 * Finds what a client of one OpenAPI document cannot rely on under another: one line for each finding, which names the
 * place. New routes, fields and codes, and new values in answers, are not findings (specification: Versioning 2 and 3).
 */
export function findBreakingChanges(before: Json, after: Json): string[] {
  return [...new Set(new DocumentComparison(before, after).compare())];
}

/** Finds why a document may not follow the released one: what it breaks, or a version that does not show the change. */
export function findObjections(released: Json, current: Json): string[] {
  const [was, is]: [string, string] = [released.info.version, current.info.version];
  const order = compareVersions(is, was);
  const withoutServers = (document: Json) => ({ ...document, servers: [] });
  const objections = findBreakingChanges(released, current);
  if (order < 0) objections.push(`the version ${is} is below the released ${was}`);
  if (order === 0 && !isDeepStrictEqual(withoutServers(released), withoutServers(current)))
    objections.push(`the document changed, and its version is still ${is}`);
  return objections;
}

/** Compares versions part by part. Positive if the first is higher. */
function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number)) as [number[], number[]];
  const differences = left.map((part, n) => part - (right[n] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}

class DocumentComparison {
  readonly #before: Json;
  readonly #after: Json;
  readonly #schemas: SchemaComparison;

  constructor(before: Json, after: Json) {
    this.#before = before;
    this.#after = after;
    this.#schemas = new SchemaComparison(before, after);
  }

  compare(): string[] {
    return [
      ...this.#compareSection('paths', 'in', (path, method) => `${method.toUpperCase()} ${path}`),
      // In webhooks the customer receives the requests.
      ...this.#compareSection('webhooks', 'out', (event) => `webhook ${event}`),
      ...this.#compareSecuritySchemes(),
      ...this.#compareErrorCodes(),
    ];
  }

  #compareSection(section: string, request: Direction, nameOf: (path: string, method: string) => string): string[] {
    return entriesOf(this.#before[section]).flatMap(([path, item]) =>
      METHODS.filter((method) => item[method]).flatMap((method) => {
        const later = get(this.#after[section], path);
        if (!later?.[method]) return [`${nameOf(path, method)} is gone`];
        const [before, after] = [item, later].map((each) => ({
          ...each[method],
          parameters: [...(each.parameters ?? []), ...(each[method].parameters ?? [])],
        }));
        return this.#compareOperations(nameOf(path, method), before, after, request);
      }),
    );
  }

  #compareOperations(name: string, before: Json, after: Json, request: Direction): string[] {
    const response = request === 'in' ? 'out' : 'in';
    const parameters = [describeParameters(this.#before, before), describeParameters(this.#after, after)] as const;
    const findings = [
      ...this.#schemas.compare(`${name}: `, ...parameters, request),
      ...this.#compareBodies(`${name}: request`, before.requestBody, after.requestBody, request),
      ...entriesOf(before.responses).flatMap(([status, old]) =>
        this.#compareResponses(`${name}: response ${status}`, old, get(after.responses, status), response),
      ),
    ];
    // Clients that are generated from the document use this name.
    if (before.operationId !== after.operationId)
      findings.push(`${name}: operationId is ${show(after.operationId)} instead of ${show(before.operationId)}`);
    if (request === 'in') findings.push(...this.#compareSecurity(name, before, after));
    return findings;
  }

  #compareBodies(place: string, before: Json, after: Json, direction: Direction): string[] {
    const [old, now] = [resolve(this.#before, before), resolve(this.#after, after)];
    if (old && !now) return [`${place} is gone`];
    const findings = this.#compareContents(place, old, now, direction);
    if (direction === 'in' && now?.required && !old?.required) findings.push(`${place} is required now`);
    if (direction === 'out' && old?.required && !now.required) findings.push(`${place} may be absent now`);
    return findings;
  }

  #compareResponses(place: string, before: Json, after: Json, direction: Direction): string[] {
    if (!after) return [`${place} is gone`];
    const [old, now] = [resolve(this.#before, before), resolve(this.#after, after)];
    const headers = [describeHeaders(this.#before, old), describeHeaders(this.#after, now)] as const;
    const codes = listExampleCodes(this.#after, now);
    const lost = listExampleCodes(this.#before, old).filter((code) => !codes.includes(code));
    return [
      ...this.#schemas.compare(`${place}: `, ...headers, direction),
      ...this.#compareContents(place, old, now, direction),
      ...lost.map((code) => `${place}: error code ${code} is gone`),
    ];
  }

  #compareContents(place: string, before: Json, after: Json, direction: Direction): string[] {
    return entriesOf(before?.content).flatMap(([type, { schema = {} }]) => {
      const later = get(after.content, type);
      if (!later) return [`${place}: ${type} is gone`];
      return this.#schemas.compare(`${place}: `, schema, later.schema ?? {}, direction);
    });
  }

  /** Each way to authenticate must still be enough: a later one may require the same or less. */
  #compareSecurity(name: string, before: Json, after: Json): string[] {
    const [old, now]: Json[][] = [before.security ?? this.#before.security, after.security ?? this.#after.security].map(
      (ways) => (ways?.length > 0 ? ways : [{}]),
    );
    const isEnough = (offered: Json, asked: Json) =>
      entriesOf(asked).every(([scheme, scopes]) => {
        const held: string[] | undefined = get(offered, scheme);
        return held !== undefined && scopes.every((scope: string) => held.includes(scope));
      });
    return old!
      .filter((offered) => !now!.some((asked) => isEnough(offered, asked)))
      .map((offered) => `${name}: security ${Object.keys(offered).join(' with ') || 'without a key'} is gone`);
  }

  #compareSecuritySchemes(): string[] {
    return entriesOf(this.#before.components?.securitySchemes).flatMap(([name, scheme]) => {
      const later = get(this.#after.components?.securitySchemes, name);
      if (!later) return [`security scheme ${name} is gone`];
      return entriesOf(scheme)
        .filter(([key, value]) => key !== 'description' && show(value) !== show(later[key]))
        .map(([key, value]) => `security scheme ${name} has ${key} ${show(later[key])} instead of ${show(value)}`);
    });
  }

  #compareErrorCodes(): string[] {
    const now = listErrorCodes(this.#after);
    return listErrorCodes(this.#before).flatMap((code) => (now.includes(code) ? [] : [`error code ${code} is gone`]));
  }
}

/** Lists every code. The document gives them as examples, because new ones may be added. */
function listErrorCodes(document: Json): string[] {
  const code = document.components?.schemas?.Error?.properties?.error?.properties?.code;
  return [...(code?.examples ?? []), ...(code?.enum ?? [])];
}

/** Lists the codes of a response. There is an example of each. */
function listExampleCodes(document: Json, { content }: Json): string[] {
  return entriesOf(content)
    .flatMap(([, { examples }]) => Object.values(examples ?? {}))
    .flatMap((example) => resolve(document, example).value?.error?.code ?? []);
}

/** Describes the parameters of an operation as the fields of one object, so that the same rules apply to them. */
function describeParameters(document: Json, { parameters }: Json): Json {
  const resolved = parameters.map((parameter: Json) => resolve(document, parameter));
  return describeObject(resolved.map((each: Json) => [`${each.in} parameter ${foldHeader(each.in, each.name)}`, each]));
}

const describeHeaders = (document: Json, { headers }: Json): Json =>
  describeObject(
    entriesOf(headers).map(([name, header]) => [`header ${foldHeader('header', name)}`, resolve(document, header)]),
  );

/** Header names are case-insensitive. */
const foldHeader = (place: string, name: string) => (place === 'header' ? name.toLowerCase() : name);

function describeObject(members: [string, Json][]): Json {
  const properties = Object.fromEntries(members.map(([name, { schema }]) => [name, schema ?? {}]));
  return { type: 'object', properties, required: members.filter(([, { required }]) => required).map(([name]) => name) };
}
