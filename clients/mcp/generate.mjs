/** What is no tool. Files and a person's whole record have no bound; what cannot be undone is no work for an assistant. */
const LEFT_OUT = new Set([
  ...['exportSessions', 'exportUsers', 'exportWebhookEvents', 'exportAuditEntries', 'exportUser'],
  'eraseUser',
]);

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/**
 * Makes what the tools take from the API document, as JSON by operation: name, description, input and scope.
 * @param {object} document
 */
export function generateOperations(document) {
  const operations = {};
  for (const [path, item] of Object.entries(document.paths))
    for (const method of METHODS) {
      const operation = item[method];
      if (!operation || LEFT_OUT.has(operation.operationId)) continue;
      operations[operation.operationId] = describeOperation(document, method.toUpperCase(), path, operation);
    }
  return `${JSON.stringify(operations, null, 2)}\n`;
}

function describeOperation(
  document,
  method,
  path,
  { operationId, summary, description = '', parameters = [], ...rest },
) {
  const isInput = (parameter) => parameter.in !== 'header';
  const body = rest.requestBody && resolve(document, rest.requestBody.content['application/json'].schema);
  const required = [
    ...parameters.filter((parameter) => isInput(parameter) && parameter.required).map(({ name }) => name),
    ...(body?.required ?? []),
  ];
  const named = parameters
    .filter(isInput)
    .map(({ name, schema, description: words }) => [
      name,
      { ...(words ? { description: rename(words) } : {}), ...resolve(document, schema) },
    ]);
  const properties = Object.fromEntries(named);
  for (const [name, schema] of Object.entries(body?.properties ?? {})) {
    if (name in properties) throw new Error(`${operationId} has ${name} both in its path or query and in its body`);
    properties[name] = schema;
  }
  return {
    name: operationId.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    title: summary,
    description: rename(description),
    method,
    path,
    // The document names the scope only there.
    scope: /scope `([\w:]+)`/.exec(rest.responses['403']?.description ?? '')?.[1] ?? null,
    input: {
      type: 'object',
      properties,
      ...(required.length > 0 ? { required } : {}),
      // The API ignores what it does not know. A misspelt filter would then find everything.
      additionalProperties: false,
    },
  };
}

/** The cursor stands elsewhere in results of tools. */
const rename = (words) => words.replaceAll('pagination.nextCursor', 'page.nextCursor');

/** Answers a schema without references, and without what only documents need. */
function resolve(document, schema) {
  if (Array.isArray(schema)) return schema.map((one) => resolve(document, one));
  if (typeof schema !== 'object' || schema === null) return schema;
  if (schema.$ref) return resolve(document, document.components.schemas[schema.$ref.split('/').at(-1)]);
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => {
      if (key === 'format') return [];
      if (key === 'example') return [['examples', [value]]];
      if (key === 'default') return [[key, value]];
      if (key !== 'properties') return [[key, resolve(document, value)]];
      const fields = Object.entries(value).map(([name, field]) => [name, resolve(document, field)]);
      return [[key, Object.fromEntries(fields)]];
    }),
  );
}
