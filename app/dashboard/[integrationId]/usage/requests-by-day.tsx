'use client';
import type { Usage } from '../../../../contract/usage';
import { Bars } from '../../charts/bars';
import { ChartFrame, Legend } from '../../charts/chart-frame';
import { pickLabels } from '../../charts/stacked-area';
import { showCount } from '../../components/count';
import { countOf } from '../../components/list-total';
import { showInstant, UTC } from '../../time-zone';

const SUCCESSFUL = { name: 'Successful', color: 'var(--color-accent)' };
const ERRORS = { name: 'Other errors', color: 'var(--color-bot-fill)' };
const RATE_LIMITED = { name: 'Rate limited', color: 'var(--color-medium-fill)' };

const nameDay = (timestamp: string) => showInstant(timestamp, UTC).split(',')[0]!;

/** Requests per UTC day, by outcome. */
export function RequestsByDay({ usage }: { usage: Usage }) {
  const { timeSeries, totalRequests, clientErrors, serverErrors, rateLimitedRequests } = usage;
  const days = timeSeries.map(({ timestamp }) => nameDay(timestamp));
  return (
    <ChartFrame
      title="Requests by day"
      summary={`${countOf(totalRequests, ['request', 'requests'])} from ${days[0]} to ${days.at(-1)}: ${showCount(clientErrors + serverErrors)} ended in an error, ${showCount(rateLimitedRequests)} of them by the rate limit.`}
      table={{
        columns: ['Day (UTC)', 'Requests', 'Errors', 'Rate limited'],
        rows: timeSeries.map(({ requests, errors, rateLimited }, at) => [
          days[at],
          ...[requests, errors, rateLimited].map(showCount),
        ]),
      }}
    >
      <div className="mb-3">
        <Legend items={[SUCCESSFUL, RATE_LIMITED, ERRORS]} />
      </div>
      <Bars
        height={200}
        bars={timeSeries.map(({ requests, errors, rateLimited }, at) => ({
          name: days[at] ?? '',
          parts: [
            { ...SUCCESSFUL, value: requests - errors },
            // The API counts rate-limited requests as errors, too.
            { ...RATE_LIMITED, value: rateLimited },
            { ...ERRORS, value: errors - rateLimited },
          ],
        }))}
        labels={pickLabels(days).map((at) => ({
          at: ((at + 0.5) / days.length) * 100,
          text: days[at]?.replace(/ \d{4}$/, '') ?? '',
        }))}
      />
    </ChartFrame>
  );
}
