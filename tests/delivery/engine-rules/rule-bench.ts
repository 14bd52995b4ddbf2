import type { TestAPI } from 'vitest';
import type { DefineFunctions, EngineApp, WorkflowEngine } from '../../support/workflow-engines';

/** Starts an application that is stopped after the test. */
export type StartApp = (define: DefineFunctions) => Promise<EngineApp>;

/** What a rule needs to be tested on an engine. */
export interface RuleBench {
  it: TestAPI<{ startApp: StartApp }>;
  /** What the engine promises. It is known once the tests run. */
  readonly engine: Pick<WorkflowEngine, 'latenessMs' | 'earlinessMs'>;
  /** Waits until a check no longer throws. */
  eventually(check: () => unknown): Promise<void>;
}
