interface StepTools {
  run(id: string, job: () => Promise<number>): Promise<number>;
}

/** A job returns how many rows it changed. With `maxRuns` it is repeated until it changes none, so often at most. */
type StepJob = [id: string, job: () => Promise<number>, maxRuns?: number];

/**
 * Runs jobs one after the other, each as a step. A job that fails keeps none of the others from running, because their removals are
 * promised. Then the function fails with the first fault.
 */
export async function runEach(step: StepTools, jobs: StepJob[]): Promise<void> {
  const faults: unknown[] = [];
  for (const job of jobs) await repeat(step, job).catch((fault: unknown) => faults.push(fault));
  if (faults.length > 0) throw faults[0];
}

async function repeat(step: StepTools, [id, job, maxRuns = 1]: StepJob): Promise<void> {
  for (let run = 1; run <= maxRuns; run++) if ((await step.run(run === 1 ? id : `${id}-${run}`, job)) === 0) return;
}
