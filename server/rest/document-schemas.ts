/** The part of JSON Schema that the document's schemas are made of. */
export interface JsonSchema {
  $ref?: string;
  type?: string | string[];
  example?: unknown;
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  propertyNames?: JsonSchema;
}

/**
 * Rewrites a schema in the forms that all code generators understand:
 *
 * - A nullable value has a list of types. Generators make a separate class for each part of an `anyOf`.
 * - An `anyOf` is never inside of another.
 * - An object that we send takes further fields. Generated clients refuse unknown fields otherwise, and every release may
 *   add some.
 * - A boolean is never a constant: clients in Java would not compile.
 * - The names of a map are text anyway.
 */
export function simplifySchema({ propertyNames: _, ...schema }: JsonSchema): JsonSchema {
  if (typeof schema.const === 'boolean') return { type: 'boolean', example: schema.const };
  const { anyOf, properties, items, additionalProperties } = schema;
  const simple: JsonSchema = {
    ...schema,
    ...(properties && { properties: mapValues(properties, simplifySchema) }),
    ...(items && { items: simplifySchema(items) }),
    ...(additionalProperties !== undefined && { additionalProperties: openFields(additionalProperties) }),
  };
  if (!anyOf) return simple;
  const choices = anyOf.map(simplifySchema).flatMap((choice) => listChoices(choice));
  const [value, ...others] = choices.filter(({ type }) => type !== 'null');
  const isNullable = choices.length === 2 && others.length === 0;
  if (!isNullable || typeof value?.type !== 'string') return { ...simple, anyOf: choices };
  const { anyOf: __, ...rest } = simple;
  const { enum: words } = value;
  return { ...value, ...rest, type: [value.type, 'null'], ...(words && { enum: [...words, null] }) };
}

const openFields = (fields: JsonSchema | boolean) =>
  typeof fields === 'boolean' || Object.keys(fields).length === 0 ? true : simplifySchema(fields);

/** The choices of an `anyOf` that says nothing else, or the schema itself. */
const listChoices = (schema: JsonSchema): JsonSchema[] =>
  schema.anyOf && Object.keys(schema).length === 1 ? schema.anyOf : [schema];

const mapValues = <T, U>(object: Record<string, T>, change: (value: T) => U) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));

/** The schemas of the document by name. A generator names the type of a schema by its place, if it has no name. */
export class SchemaNames {
  readonly schemas: Record<string, JsonSchema>;

  constructor(schemas: Record<string, JsonSchema>) {
    this.schemas = mapValues(schemas, simplifySchema);
  }

  /** Adds a schema under a name, and answers the reference to it. */
  add(name: string, schema: JsonSchema): JsonSchema {
    if (schema.$ref) return schema;
    if (this.schemas[name]) throw new Error(`two schemas of the document have the name ${name}`);
    this.schemas[name] = simplifySchema(schema);
    return { $ref: `#/components/schemas/${name}` };
  }
}
