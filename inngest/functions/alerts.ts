import type { Inngest } from 'inngest';

/** What the functions of alert rules call. */
export interface AlertJobs {
  /** Judges the alert rules of all integrations. Returns the number of alerts that it sent. */
  evaluateAlertRules: () => Promise<number>;
}

/** The functions that judge alert rules. */
export function createAlertFunctions(client: Inngest, jobs: AlertJobs) {
  /**
   * Time alone can make a rule hold (fewer sessions than so many), and not every change starts a judgement. It is not tried again,
   * because the next minute judges the same windows.
   */
  const evaluateRules = client.createFunction(
    {
      id: 'evaluate-alert-rules',
      name: 'Judge the alert rules of all integrations',
      triggers: [{ cron: '* * * * *' }],
      retries: 0,
    },
    ({ step }) => step.run('evaluate', () => jobs.evaluateAlertRules()),
  );
  return [evaluateRules];
}
