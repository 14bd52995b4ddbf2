interface StepTools {
  run(id: string, job: () => Promise<number>): Promise<unknown>;
}

/**
 * Runs jobs one after the other, each as a step. A job that fails keeps none of the others from running, because their removals are
 * promised. Then the function fails with the first fault.
 */
export async function runEach(step: StepTools, jobs: [id: string, job: () => Promise<number>][]): Promise<void> {
  const faults: unknown[] = [];
  for (const [id, job] of jobs) await step.run(id, job).catch((fault: unknown) => faults.push(fault));
  if (faults.length > 0) throw faults[0];
}
