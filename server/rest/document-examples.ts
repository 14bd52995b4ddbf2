import type { JsonSchema } from './document-schemas';

/**
 * Builds the example of a schema from the examples of its fields, so that each is written once, next to its field. Throws if
 * a field has no example.
 */
export function buildExample(schema: JsonSchema, components: Record<string, JsonSchema>): unknown {
  if (schema.example !== undefined) return schema.example;
  if (schema.$ref) return buildExample(components[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)]!, components);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return buildExample(schema.anyOf[0]!, components);
  if (schema.type === 'array') return [buildExample(schema.items!, components)];
  if (![schema.type].flat().includes('object'))
    throw new Error(`a field of the document has no example: ${JSON.stringify(schema)}`);
  const fields = Object.entries(schema.properties ?? {});
  return Object.fromEntries(fields.map(([name, field]) => [name, buildExample(field, components)]));
}
