import type { components, operations } from './schema.js';

// How the hand-written part reads the generated types.

/** The schemas of the document by name: `Schemas['Session']`. */
export type Schemas = components['schemas'];

export type OperationId = keyof operations;

/** The filters of a list, and for lists with pages `cursor` and `pageSize`. */
export type Filters<Id extends OperationId> = NonNullable<operations[Id]['parameters']['query']>;

/** The body of a request. */
export type Body<Id extends OperationId> = operations[Id] extends {
  requestBody?: { content: { 'application/json': infer Json } };
}
  ? Json
  : never;

/** What a call answers: the content of `data`. */
export type Data<Id extends OperationId> = operations[Id] extends {
  responses: { 200: { content: { 'application/json': { data: infer Content } } } };
}
  ? Content
  : never;

/** An item of a list. */
export type Item<Id extends OperationId> = Data<Id> extends (infer One)[] ? One : never;

/** What every call takes. */
export interface RequestOptions {
  /** Cancels the call: it then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** The time limit of each attempt, instead of the client's. */
  timeoutMs?: number | undefined;
}

/** What a POST takes. */
export interface PostOptions extends RequestOptions {
  /**
   * 1 to 255 printable ASCII characters. For 24 hours, a call with the same key and input has no further effect and gets
   * the answer of the first. Without one, the client makes one for each call.
   */
  idempotencyKey?: string | undefined;
}
