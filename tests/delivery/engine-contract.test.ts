import { afterAll, beforeAll, describe, it } from 'vitest';
import { eventually } from '../support/eventually';
import { findInngest, type InngestServer } from '../support/inngest-server';
import { createEmbeddedEngines, createServerEngine, type WorkflowEngine } from '../support/workflow-engines';
import { registerConcurrencyRules } from './engine-rules/concurrency';
import { registerCronRules } from './engine-rules/crons';
import { registerEventRules } from './engine-rules/events';
import { registerFailureRules } from './engine-rules/failures';
import { registerRestartRules } from './engine-rules/restarts';
import type { RuleBench, StartApp } from './engine-rules/rule-bench';
import { registerStepRules } from './engine-rules/steps';

// The rules that our functions rely on, tested on the embedded engine and on a real Inngest server.

const inngest = findInngest(process.env);

let server: InngestServer | undefined;

describe('the embedded engine', () => {
  registerRules(async () => createEmbeddedEngines());
});

const found = inngest?.description ?? 'none: INNGEST_BASE_URL is unset and no inngest-cli is installed';
describe.skipIf(!inngest)(`a real Inngest server (${found})`, () => {
  registerRules(async () => {
    server = await inngest!.start();
    return createServerEngine(server);
  });
  afterAll(async () => server?.stop());
});

function registerRules(startEngine: () => Promise<WorkflowEngine>) {
  let engine: WorkflowEngine;
  const bench: RuleBench = {
    it: it.extend<{ startApp: StartApp }>({
      startApp: ({ onTestFinished }, use) =>
        use(async (define) => {
          const app = await engine.startApp(define);
          onTestFinished(() => app.stop());
          return app;
        }),
    }),
    get engine() {
      return engine;
    },
    eventually: (check) => eventually(check, engine.patienceMs),
  };
  beforeAll(async () => {
    engine = await startEngine();
  });
  describe('events', () => registerEventRules(bench));
  describe('steps', () => registerStepRules(bench));
  describe('failures', () => registerFailureRules(bench));
  describe('concurrency', () => registerConcurrencyRules(bench));
  describe('restarts', () => registerRestartRules(bench));
  describe('crons', () => registerCronRules(bench));
}
