import type { AnyTRPCProcedure } from '@trpc/server';
import { forEachOpenApiProcedure, getInputOutputParsers, getPathParameters, normalizePath } from 'trpc-to-openapi';
import { z } from 'zod';
import { appRouter } from '../procedures/router';
import type { Meta } from '../procedures/trpc';
import { listProcedures } from './trpc-internals';

/** How a query parameter's text becomes a value. */
export type QueryKind = 'string' | 'integer' | 'decimal';

/** The fields of a body, and whether the body itself may be left out. */
export interface BodyShape {
  fields: string[];
  isOptional: boolean;
}

/** A public procedure as the request handler needs it. */
export interface Route {
  method: string;
  /** The path as documented: `/v1/sessions/{sessionId}`. */
  template: string;
  /** The procedure's name in the router: `sessions.get`. */
  procedurePath: string;
  type: 'query' | 'mutation';
  procedure: AnyTRPCProcedure;
  /** Path parameters, each with the schema it is judged by before the body is read. */
  pathParameters: Map<string, z.ZodType>;
  query: Map<string, QueryKind>;
  /** Null where the route takes no body. */
  body: BodyShape | null;
  meta: Meta;
}

interface Node {
  statics: Map<string, Node>;
  parameter: { name: string; node: Node } | null;
  routes: Map<string, Route>;
}

const createNode = (): Node => ({ statics: new Map(), parameter: null, routes: new Map() });

/** All public procedures, from the metadata. */
export const ROUTES: Route[] = readRoutes();
const ROOT = buildTree(ROUTES);

export interface FoundRoute {
  route: Route;
  parameters: [name: string, encoded: string][];
}

/** Finds the route of a method and a path, both exact; path parameters come still percent-encoded. */
export function findRoute(method: string, path: string): FoundRoute | null {
  const parameters: [string, string][] = [];
  let node: Node | undefined = ROOT;
  for (const segment of path.split('/').slice(1)) {
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
      meta: meta as Meta,
    });
  });
  return routes;
}

/** Reads a query parameter's kind off its schema, below what makes it optional or gives it a default. */
function findQueryKind(schema: z.ZodType): QueryKind {
  if (schema.meta()?.type === 'integer') return 'integer';
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) {
    return findQueryKind(schema.unwrap() as z.ZodType);
  }
  return schema instanceof z.ZodNumber ? 'decimal' : 'string';
}

/** An action that needs no word can be called without a body; a PATCH or PUT without one is a mistake. */
function isBodyOptional(method: string, shape: z.ZodRawShape, fields: string[]): boolean {
  return method === 'POST' && fields.every((name) => (shape[name] as z.ZodType).safeParse(undefined).success);
}
