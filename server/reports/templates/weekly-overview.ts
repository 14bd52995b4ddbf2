import type { Analytics } from '../../../contract/analytics';
import { countWindow } from '../../domain/analytics';
import { type Cell, defineTemplate, type ReportContext, type ReportSection } from '../template';

type Day = Analytics['timeSeries'][number];

type Week = Awaited<ReturnType<typeof countWindow>>;

const readings = new WeakMap<ReportContext, Promise<Week>>();

/** Reads the counts once for all parts of a report, so that they agree. */
function readWeek(context: ReportContext): Promise<Week> {
  const reading = readings.get(context) ?? countWindow(context, { period: '7d', groupBy: 'day' });
  readings.set(context, reading);
  return reading;
}

/** The last seven days of the integration, from the counts alone, which know no other end than now. */
export const weeklyOverview = defineTemplate<Day>({
  id: 'weekly-overview',
  name: 'Weekly overview',
  about:
    'Sessions by class and day, users and origins, from midnight (UTC) seven days before the report is made until then.',
  listTitle: 'Days',
  columns: [
    { key: 'day', title: 'Day (UTC)', isPrinted: true, value: ({ timestamp }) => timestamp.slice(0, 10) },
    { key: 'sessionCount', title: 'Sessions', isPrinted: true, value: ({ sessionCount }) => sessionCount },
    { key: 'botCount', title: 'Bot', isPrinted: true, value: ({ botCount }) => botCount },
    {
      key: 'userMatchedCount',
      title: 'With a user',
      isPrinted: true,
      value: ({ userMatchedCount }) => userMatchedCount,
    },
    { key: 'eventCount', title: 'Events', isPrinted: true, value: ({ eventCount }) => eventCount },
  ],
  assertSubject: async () => {},
  async readWindow(context) {
    const { startDate: startAt, endDate: endAt } = (await readWeek(context)).analytics;
    return { startAt, endAt };
  },
  async summarise(context) {
    const week = await readWeek(context);
    return [countTotals(week), chartDays(week.analytics), listOrigins(week.analytics)];
  },
  async readRows(context) {
    const { timeSeries } = (await readWeek(context)).analytics;
    return { rows: timeSeries, next: null };
  },
});

function countTotals({ analytics: { summary, botDetection, userMatching }, scored }: Week): ReportSection {
  // The API says 0 for the mean and the share of nothing. A reader would take that for a week of people without users.
  const unlessNone = (count: number, value: number) => (count === 0 ? null : value);
  const numbers: [key: string, title: string, value: Cell][] = [
    ['totalSessions', 'Sessions', summary.totalSessions],
    ['highConfidenceBots', 'Bots: score of 0.9 or more, or labelled bot', botDetection.highConfidenceBots],
    ['mediumConfidenceBots', 'Other bots', botDetection.mediumConfidenceBots],
    ['lowConfidenceBots', 'Medium risk', botDetection.lowConfidenceBots],
    ['likelyHumans', 'Likely people', botDetection.likelyHumans],
    ['uniqueUsers', 'Different users', summary.uniqueUsers],
    ['averageBotScore', 'Average score', unlessNone(scored, summary.averageBotScore)],
    ['matchRate', 'Share of sessions with a user', unlessNone(summary.totalSessions, userMatching.matchRate)],
  ];
  return {
    key: 'totals',
    title: 'Totals',
    numbers: numbers.map(([key, title, value]) => ({ key, title, value })),
  };
}

function chartDays({ timeSeries }: Analytics): ReportSection {
  const bots = timeSeries.map(({ botCount }) => botCount);
  return {
    key: 'sessionsByDay',
    title: 'Sessions by day',
    chart: {
      summary: `Sessions of ${timeSeries.length} days, and how many of them were classed as bot.`,
      labels: timeSeries.map(({ timestamp }) => timestamp.slice(5, 10)),
      series: [
        { name: 'Bot', tone: 'bot', values: bots },
        {
          name: 'Other sessions',
          tone: 'neutral',
          values: timeSeries.map(({ sessionCount }, n) => sessionCount - bots[n]!),
        },
      ],
    },
  };
}

function listOrigins({ topOrigins }: Analytics): ReportSection {
  return {
    key: 'topOrigins',
    title: 'Origins with the most sessions',
    table: {
      columns: [
        { key: 'origin', title: 'Origin' },
        { key: 'sessionCount', title: 'Sessions' },
        { key: 'botPercentage', title: 'Bot, %' },
      ],
      rows: topOrigins.map(({ origin, sessionCount, botPercentage }) => [...[origin, sessionCount, botPercentage]]),
    },
  };
}
