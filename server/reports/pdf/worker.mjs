// Sets a document with Typst in a separate thread, because that takes seconds. Node loads this file as it is; no build
// bundles it.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import init, { TypstCompilerBuilder } from '@myriaddreamin/typst-ts-web-compiler';

const { data, layoutPath, fontPaths } = workerData;
const wasmPath = createRequire(import.meta.url).resolve('@myriaddreamin/typst-ts-web-compiler/wasm');
/** Diagnostics as objects. */
const FULL = 3;

await init({ module_or_path: readFileSync(wasmPath) });
const builder = new TypstCompilerBuilder();
// Only the files below can be read.
builder.set_dummy_access_model();
for (const path of fontPaths) await builder.add_raw_font(readFileSync(path));
const compiler = await builder.build();
compiler.map_shadow('/data.json', new TextEncoder().encode(data));
compiler.add_source('/document.typ', readFileSync(layoutPath, 'utf8'));
const { result, diagnostics } = compiler.compile('/document.typ', undefined, 'pdf', FULL);
if (!result) throw new Error(`the document has faults: ${JSON.stringify(diagnostics)}`);
parentPort.postMessage(result, [result.buffer]);
