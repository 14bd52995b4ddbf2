import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { tsImport } from 'tsx/esm/api';

// Makes what the Python client takes from docs/openapi.json, and the synchronous half of the client from the asynchronous one, for
// clients/generate.mjs.

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const PACKAGE = 'clients/python/src/bot_detection';
const REQUIREMENTS = join(ROOT, 'clients/python/requirements.txt');
const HEAD = '# Generated from docs/openapi.json by `npm run clients`. Do not edit.';
const SYNC_HEAD = '# Generated from the module of the same name in _async by `npm run clients`. Do not edit.';

/** What unasync does not know by itself. */
const SYNC_NAMES = {
  ...{ AsyncClient: 'Client', AsyncExport: 'Export', AsyncPager: 'Pager', AsyncTransport: 'Transport' },
  ...{ AsyncIterator: 'Iterator', AsyncIterable: 'Iterable', AsyncGenerator: 'Generator' },
  ...{ aiter_bytes: 'iter_bytes', aclose: 'close', asyncio: 'time', _async: '_sync' },
};

const run = promisify(execFile);
const snakeCase = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const titleCase = (name) => name[0].toUpperCase() + name.slice(1);
const nameOf = (reference) => reference.slice(reference.lastIndexOf('/') + 1);

/** The names of an object's fields as Python's arguments, which are in snake case. */
const toArguments = (schema) => ({
  ...schema,
  properties: Object.fromEntries(Object.entries(schema.properties).map(([name, field]) => [snakeCase(name), field])),
  required: schema.required?.map(snakeCase),
});

const listOperations = (document) =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const name = titleCase(operation.operationId);
      return readOperation({ ...operation, path, method: method.toUpperCase(), name }, document);
    }),
  );

/** Finds what an operation takes beside the path, what it answers, and how. */
function readOperation(operation, document) {
  const { schemas } = document.components;
  const { path, method, name, parameters = [] } = operation;
  // The format is a separate argument, because it decides what the method answers.
  const query = parameters.filter((one) => one.in === 'query' && one.name !== 'format');
  const body = operation.requestBody?.content['application/json'].schema.$ref;
  const content = operation.responses['200']?.content;
  const isFile = content !== undefined && !('application/json' in content);
  // A line of a file is an item of the list with the same path.
  const list = isFile ? document.paths[path.replace('/exports', '')].get.responses['200'].content : content;
  const answer = list?.['application/json'].schema.$ref;
  const data = answer && schemas[nameOf(answer)].properties.data;
  const result = data?.items?.$ref ?? data?.$ref ?? (data ? `${name}Result` : answer);
  return {
    ...{ path, method, name, query, body, data, isFile, operationId: operation.operationId },
    result: result && nameOf(result),
    names: body ? Object.keys(schemas[nameOf(body)].properties) : query.map((one) => one.name),
    isPaged: query.some((one) => one.name === 'cursor'),
    isList: data?.type === 'array',
  };
}

/** A document with the types that the client shows: no envelopes, and arguments under Python's names. */
function selectSchemas(document, operations) {
  const { schemas } = document.components;
  const requests = new Set(operations.flatMap(({ body }) => (body ? [nameOf(body)] : [])));
  const shown = Object.entries(schemas)
    .filter(([name]) => !/(Response|^Error|^ErrorDetails)$/.test(name))
    .map(([name, schema]) => [name, requests.has(name) ? toArguments(schema) : schema]);
  const queries = operations
    .filter(({ query }) => query.length > 0)
    .map(({ name, query }) => {
      // None is as good as no filter.
      const fields = query.map(({ name: field, description, schema }) => {
        const { default: _, ...type } = schema;
        return [field, { description, anyOf: [type, { type: 'null' }] }];
      });
      return [`${name}Query`, toArguments({ type: 'object', properties: Object.fromEntries(fields) })];
    });
  const results = operations
    .filter(({ name, result }) => result === `${name}Result`)
    .map(({ result, data }) => [result, data]);
  return {
    openapi: document.openapi,
    info: document.info,
    paths: {},
    components: { schemas: Object.fromEntries([...shown, ...queries, ...results]) },
  };
}

const TYPE_OPTIONS = [
  ...['--input-file-type', 'openapi', '--output-model-type', 'typing.TypedDict', '--target-python-version', '3.10'],
  ...['--enum-field-as-literal', 'all', '--use-standard-collections', '--use-union-operator', '--disable-timestamp'],
  ...['--use-field-description', '--use-schema-description', '--keep-model-order', '--no-use-closed-typed-dict'],
  ...['--use-object-type', '--formatters', 'black', 'isort', '--naming-strategy', 'parent-prefixed'],
];
const NOT_REQUIRED = 'from typing_extensions import NotRequired\n';
/** The client needs no typing_extensions when it runs, and Python 3.10 has no NotRequired. */
const OWN_NOT_REQUIRED = `if sys.version_info >= (3, 11):
    from typing import NotRequired
elif TYPE_CHECKING:
    from typing_extensions import NotRequired
`;

async function writeTypes(python, document, folder, file) {
  const input = join(folder, 'openapi.json');
  await writeFile(input, JSON.stringify(document));
  const options = ['--input', input, '--output', file, '--custom-file-header', HEAD, ...TYPE_OPTIONS];
  await run(python, ['-m', 'datamodel_code_generator', ...options], { cwd: folder });
  const text = await readFile(file, 'utf8');
  if (!text.includes(NOT_REQUIRED)) throw new Error('the generator imports NotRequired in another way');
  const imports = 'from typing import Literal, TypedDict\n';
  await writeFile(
    file,
    text
      .replace(imports, `import sys\nfrom typing import TYPE_CHECKING, Literal, TypedDict\n`)
      .replace(NOT_REQUIRED, OWN_NOT_REQUIRED),
  );
}

/** Writes a constant for each operation: how to ask, and the type of what it answers. */
function writeOperations(operations) {
  const constants = operations.map((one) => {
    const type = one.result ? `types.${one.result}` : 'None';
    const kind = one.isFile ? 'FileOperation' : one.isPaged ? 'PagedOperation' : 'Operation';
    const answer = kind === 'Operation' && one.isList ? `list[${type}]` : type;
    const pairs = one.names.map((name) => `        "${snakeCase(name)}": "${name}",\n`);
    const fields = [
      ...[one.operationId, one.method, one.path].map((text) => `    "${text}",\n`),
      ...(pairs.length > 0 ? [`    {\n${pairs.join('')}    },\n`] : []),
      ...(one.result && !one.data ? ['    is_in_envelope=False,\n'] : []),
      ...(one.result ? [] : ['    answers_nothing=True,\n']),
    ];
    return `${snakeCase(one.operationId).toUpperCase()} = ${kind}[${answer}](\n${fields.join('')})\n`;
  });
  const imports = 'from . import types\nfrom ._requests import FileOperation, Operation, PagedOperation\n';
  return `${HEAD}\n\n${imports}\n${constants.join('')}`;
}

/** Writes a class for each event that a webhook reports. */
function writeEvents(document) {
  const events = Object.entries(document.webhooks).map(([name, { post }]) => ({
    name,
    payload: nameOf(post.requestBody.content['application/json'].schema.$ref),
    description: post.description.split(' Answer any 2xx')[0],
  }));
  const classes = events.map(
    ({ name, payload, description }) => `
@dataclass(frozen=True)
class ${name}(Delivery):
    """${description}"""

    payload: types.${payload}
    type: Literal["${name}"] = "${name}"
`,
  );
  const real = events.filter(({ name }) => name !== 'TestDelivery').map(({ name }) => name);
  const union = [...events.map(({ name }) => name), 'UnknownEvent'];
  return `${HEAD}
"""What deliveries of webhooks report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from . import types


@dataclass(frozen=True)
class Delivery:
    """
    Every attempt of a delivery has the same \`delivery_id\`: handle each once. \`timestamp\` is when the attempt was
    signed, in Unix seconds.
    """

    subscription_id: str
    delivery_id: str
    timestamp: int

${classes.join('\n')}

@dataclass(frozen=True)
class UnknownEvent(Delivery):
    """An event that this version of the client does not know."""

    payload: dict[str, Any]
    type: str


Event = (
    ${union.join('\n    | ')}
)

EVENT_CLASSES: dict[str, Callable[[str, str, int, Any], Event]] = {
${real.map((name) => `    "${name}": ${name},\n`).join('')}}
`;
}

const UNASYNC = `import json, sys, unasync
files, names = json.loads(sys.argv[1])
unasync.unasync_files(files, [unasync.Rule("/_async/", "/_sync/", names)])`;

/** Makes the synchronous modules of the asynchronous ones. */
async function writeSync(python, folder, target) {
  const from = join(folder, '_async');
  await cp(join(ROOT, PACKAGE, '_async'), from, { recursive: true });
  const names = (await readdir(from)).filter((name) => name.endsWith('.py'));
  const files = names.map((name) => join(from, name));
  await run(python, ['-c', UNASYNC, JSON.stringify([files, SYNC_NAMES])]);
  await mkdir(join(target, '_sync'), { recursive: true });
  for (const name of names) {
    const text = await readFile(join(folder, '_sync', name), 'utf8');
    await writeFile(join(target, '_sync', name), text === '' ? '' : `${SYNC_HEAD}\n${text}`);
  }
}

/** Makes the generated files of the Python client: their texts by their paths below the root. */
export async function generatePython(document) {
  const { installPythonTools } = await tsImport('../tests/support/generators/python-tools.ts', import.meta.url);
  const python = join(await installPythonTools(REQUIREMENTS), 'bin/python');
  const operations = listOperations(document);
  const folder = await mkdtemp(join(tmpdir(), 'generate-python-'));
  const target = join(folder, PACKAGE);
  try {
    await mkdir(target, { recursive: true });
    await writeTypes(python, selectSchemas(document, operations), folder, join(target, 'types.py'));
    await writeFile(join(target, '_operations.py'), writeOperations(operations));
    await writeFile(join(target, 'events.py'), writeEvents(document));
    await writeSync(python, folder, target);
    await run(python, ['-m', 'black', '--quiet', '--config', join(ROOT, 'clients/python/pyproject.toml'), target]);
    const names = (await readdir(target, { recursive: true })).filter((name) => name.endsWith('.py')).sort();
    const texts = names.map(async (name) => [join(PACKAGE, name), await readFile(join(target, name), 'utf8')]);
    return Object.fromEntries(await Promise.all(texts));
  } finally {
    await rm(folder, { recursive: true });
  }
}
