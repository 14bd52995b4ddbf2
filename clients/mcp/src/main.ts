#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { type BotDetectionClient, createClient } from 'bot-detection-client';
import { createMcpServer } from './server.js';
import { showInvisible } from './texts.js';

const USAGE = `Usage: bot-detection-mcp [--allow-writes]

Serves the Bot Detection API to an AI assistant, over stdin and stdout (MCP). Settings of the environment:
  BOT_DETECTION_API_KEY   an API key; one with the scope read is enough without --allow-writes
  BOT_DETECTION_BASE_URL  the address of the API, without /v1
--allow-writes also offers tools that change labels, thresholds and webhooks.`;

/** Only to stderr: stdout belongs to the protocol. One line each, whatever a text contains. */
const log = (line: string) => void process.stderr.write(`bot-detection-mcp: ${showInvisible(line)}\n`);

function fail(why: string): never {
  process.stderr.write(`bot-detection-mcp: ${why}\n\n${USAGE}\n`);
  process.exit(2);
}

function readApi(): { api: BotDetectionClient; hide: (text: string) => string } {
  const { BOT_DETECTION_API_KEY: apiKey, BOT_DETECTION_BASE_URL: baseUrl } = process.env;
  if (!apiKey) fail('BOT_DETECTION_API_KEY is not set');
  if (!baseUrl) fail('BOT_DETECTION_BASE_URL is not set');
  try {
    // The assistant decides when to try again: a pause of a minute would look like a fault.
    const api = createClient({ apiKey, baseUrl, maxRetries: 0 });
    return { api, hide: (text) => text.replaceAll(apiKey, '[API key]') };
  } catch (error) {
    fail(
      (error as Error).message.replace('apiKey', 'BOT_DETECTION_API_KEY').replace('baseUrl', 'BOT_DETECTION_BASE_URL'),
    );
  }
}

const parameters = process.argv.slice(2);
if (parameters.includes('--help')) {
  process.stderr.write(`${USAGE}\n`);
  process.exit(0);
}
const unknown = parameters.find((parameter) => parameter !== '--allow-writes');
if (unknown !== undefined) fail('there is no such option');
const allowWrites = parameters.length > 0;

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const server = createMcpServer({ ...readApi(), version, allowWrites, log });

/** Ends with the program that started this process, and breaks off what is under way. */
function end(): void {
  void server.close();
  // What the last answer still needs to be written.
  setTimeout(() => process.exit(0), 500).unref();
}
process.stdin.once('end', end).once('close', end);
process.stdout.on('error', () => process.exit(0));
// Nobody reads the log any more, for example because the terminal was closed in which the program was started.
process.stderr.on('error', () => {});
process.on('SIGTERM', () => process.exit(0)).on('SIGINT', () => process.exit(0));

await server.connect(new StdioServerTransport());
log(`version ${version}, ${allowWrites ? 'with tools that change data' : 'read-only'}`);
