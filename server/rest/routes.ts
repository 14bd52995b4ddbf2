import type { AnyTRPCProcedure } from '@trpc/server';
import { forEachOpenApiProcedure, getInputOutputParsers, getPathParameters, normalizePath } from 'trpc-to-openapi';
import { z } from 'zod';
import { EXPORTS, type Export } from '../../contract/exports';
import type { KeyScope } from '../../contract/integrations';
import { pageQuery } from '../../contract/pagination';
import { appRouter } from '../procedures/router';
import type { Meta } from '../procedures/trpc';
import { type FileFormats, makeFileFormats } from './list-files';
import { listProcedures } from './trpc-internals';

/** How the text of a query parameter is converted. */
export type QueryKind = 'string' | 'integer' | 'decimal';

/** The fields of a body, and whether the body may be missing. */
export interface BodyShape {
  fields: string[];
  isOptional: boolean;
}

/** What the request handler needs to know of a public procedure. */
export interface Route {
  method: string;
  /** The path as documented: `/v1/sessions/{sessionId}`. */
  template: string;
  /** The procedure's name in the router: `sessions.get`. */
  procedurePath: string;
  type: 'query' | 'mutation';
  procedure: AnyTRPCProcedure;
  /** Path parameters with their schemas, which are checked before the body is read. */
  pathParameters: Map<string, z.ZodType>;
  query: Map<string, QueryKind>;
  /** Null if the route takes no body. */
  body: BodyShape | null;
  /** What a key needs for it. */
  scope: KeyScope;
  meta: Meta;
  /** The formats of an export, whose procedure is that of the list. Null for other routes. */
  formats: FileFormats | null;
}

interface Node {
  statics: Map<string, Node>;
  parameter: { name: string; node: Node } | null;
  routes: Map<string, Route>;
}

const createNode = (): Node => ({ statics: new Map(), parameter: null, routes: new Map() });

/** All public procedures, read from the procedures' metadata. */
export const ROUTES: Route[] = readRoutes();
const ROOT = buildTree(ROUTES);

export interface FoundRoute {
  route: Route;
  parameters: [name: string, encoded: string][];
}

/** Finds the route of a method and a path. Both must match exactly. The path parameters are still percent-encoded. */
export function findRoute(method: string, path: string): FoundRoute | null {
  const parameters: [string, string][] = [];
  const [start, ...segments] = path.split('/');
  // A target such as `*/v1/sessions` names no path.
  if (start !== '') return null;
  let node: Node | undefined = ROOT;
  for (const segment of segments) {
    const next: Node | undefined = node.statics.get(segment);
    if (!next && node.parameter && segment !== '') parameters.push([node.parameter.name, segment]);
    node = next ?? (segment === '' ? undefined : node.parameter?.node);
    if (!node) return null;
  }
  const route = node.routes.get(method);
  return route ? { route, parameters } : null;
}

function buildTree(routes: Route[]): Node {
  const root = createNode();
  for (const route of routes) {
    let node = root;
    for (const segment of route.template.split('/').slice(1)) {
      const name = /^\{(.+)\}$/.exec(segment)?.[1];
      let next = name ? node.parameter?.node : node.statics.get(segment);
      if (!next) {
        next = createNode();
        if (name) node.parameter = { name, node: next };
        else node.statics.set(segment, next);
      }
      node = next;
    }
    node.routes.set(route.method, route);
  }
  return root;
}

function readRoutes(): Route[] {
  const routes: Route[] = [];
  forEachOpenApiProcedure(listProcedures(appRouter), ({ path, type, procedure, meta }) => {
    const { method } = meta.openapi;
    const template = normalizePath(meta.openapi.path);
    const { shape } = getInputOutputParsers(procedure).inputParser as z.ZodObject;
    const names = getPathParameters(template);
    const others = Object.keys(shape).filter((name) => !names.includes(name));
    const hasBody = method === 'POST' || method === 'PUT' || method === 'PATCH';
    routes.push({
      method,
      template,
      procedurePath: path,
      type: type as Route['type'],
      procedure: procedure as unknown as AnyTRPCProcedure,
      pathParameters: new Map(names.map((name) => [name, shape[name] as z.ZodType])),
      query: new Map(hasBody ? [] : others.map((name) => [name, findQueryKind(shape[name] as z.ZodType)])),
      body: hasBody && others.length > 0 ? { fields: others, isOptional: isBodyOptional(method, shape, others) } : null,
      scope: type === 'query' ? 'read' : readScope(path, meta as Meta),
      meta: meta as Meta,
      formats: null,
    });
  });
  return [...routes, ...EXPORTS.map((one) => makeExportRoute(one, routes))];
}

/** Makes the route of an export: that of its list without paging. */
function makeExportRoute({ listPath, path }: Export, routes: Route[]): Route {
  const list = routes.find(({ method, template }) => method === 'GET' && template === listPath)!;
  const filters = [...list.query].filter(([name]) => !Object.hasOwn(pageQuery, name));
  return {
    ...list,
    template: path,
    query: new Map<string, QueryKind>([...filters, ['format', 'string']]),
    formats: makeFileFormats(list.procedure),
  };
}

/** Reads the scope of a mutation. Without one no process starts, so that none is open to every key by mistake. */
function readScope(path: string, { scope }: Meta): KeyScope {
  if (!scope) throw new Error(`${path} does not say which scope it needs`);
  return scope;
}

/** Finds the kind of a query parameter from its schema, inside of any optional, default or nullable wrapper. */
function findQueryKind(schema: z.ZodType): QueryKind {
  if (schema.meta()?.type === 'integer') return 'integer';
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) {
    return findQueryKind(schema.unwrap() as z.ZodType);
  }
  return schema instanceof z.ZodNumber ? 'decimal' : 'string';
}

/** A POST whose fields are all optional can be sent without a body. A PATCH or PUT without a body is a mistake. */
function isBodyOptional(method: string, shape: z.ZodRawShape, fields: string[]): boolean {
  return method === 'POST' && fields.every((name) => (shape[name] as z.ZodType).safeParse(undefined).success);
}
