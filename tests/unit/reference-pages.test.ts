import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { PEOPLE_GROUPS } from '../../server/detection/rules/people';
import { RULES, type WeightedRule } from '../../server/detection/rules/table';
import { WRITING_RULES } from '../../server/detection/writing-score';
import { COLUMN_FATES, FATES, type Fate } from '../../server/erasure/columns';
import { RULE_DESCRIPTIONS } from '../../server/findings/rules';
import { type Env, readEnv, settingsSchema } from '../../server/platform/env';
import { createMetrics } from '../../server/platform/metrics';
import { TABLE_BOUNDS } from '../support/table-bounds';

// docs/settings.md, docs/metrics.md and tables of docs/operating.md, docs/detection.md, docs/findings.md and
// docs/writing.md are generated from the code, and the figures of evidence reports from the laboratory's results. After a change of the code write them again:
// npx vitest run tests/unit/reference-pages.test.ts -u

const NOTE = '<!-- Generated. To write it again: npx vitest run tests/unit/reference-pages.test.ts -u -->';

const writeTable = (head: string[], rows: string[][]) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
const code = (text: string) => (text === '' ? '' : `\`${text}\``);

describe('docs/settings.md', () => {
  const { properties } = z.toJSONSchema(settingsSchema, { io: 'input', unrepresentable: 'any' });
  const settings = Object.entries(properties as Record<string, { default?: string; description?: string }>);

  it('has every setting', async () => {
    expect(settings.length).toBeGreaterThan(20);
    expect(settings.filter(([, { description }]) => !description)).toEqual([]);
    const rows = settings.map(([name, { default: value, description }]) => [
      code(name),
      value ? code(value) : 'unset',
      description!,
    ]);
    const page = `# Settings

${NOTE}

Settings are environment variables. An empty value counts as unset. With a wrong value \`npm start\` writes one line and exits
with code 1. Durations are whole numbers with \`ms\`, \`s\`, \`m\` or \`h\`.

${writeTable(['setting', 'default', 'meaning'], rows)}
`;
    await expect(page).toMatchFileSnapshot('../../docs/settings.md');
  });

  it.each(settings.filter(([, setting]) => setting.default))('says the default of %s', (name, setting) => {
    const read = (env: Env) => [env.quotas, env[name as keyof Env]];
    expect(read(readEnv({ [name]: setting.default }))).toEqual(read(readEnv({})));
  });
});

describe('docs/privacy.md', () => {
  it('has what an erasure does to every column', async () => {
    const rows = [...COLUMN_FATES].flatMap(([table, fates]) => {
      const columnsOf = (fate: Fate) => Object.keys(fates).filter((column) => fates[column] === fate);
      return (Object.keys(FATES) as Fate[])
        .filter((fate) => columnsOf(fate).length > 0)
        .map((fate) => [code(table), columnsOf(fate).map(code).join(', '), FATES[fate]]);
    });
    const section = `<!-- Generated: the columns. To write them again: npx vitest run tests/unit/reference-pages.test.ts -u -->

${writeTable(['table', 'columns', 'what happens'], rows)}

<!-- End of the columns. -->`;
    const page = readFileSync('docs/privacy.md', 'utf8');
    const expected = page.replace(/<!-- Generated: the columns.*<!-- End of the columns. -->/s, () => section);
    expect(expected).toContain(section);
    await expect(expected).toMatchFileSnapshot('../../docs/privacy.md');
  });
});

describe('docs/metrics.md', () => {
  it('has every metric of ours', async () => {
    const metrics = createMetrics();
    // A label shows in the text once something was counted under it.
    metrics.countRequest({ method: 'GET', route: '/health', status: 200, durationMs: 1 });
    metrics.countAttempt({ outcome: 'Delivered', durationMs: 1 });
    metrics.countFacts({ accepted: 1, duplicates: 0, suppressed: 0 });
    metrics.countBatch('kept');
    metrics.countRun({ function: 'x', outcome: 'completed' });
    metrics.observeCall({ function: 'x', durationMs: 1 });
    const { text } = await metrics.scrape();
    const labelsOf = (name: string) => {
      const samples = text.matchAll(new RegExp(`^${name}(?:_bucket|_count|_sum)?\\{(.*?)\\} `, 'gm'));
      const labels = [...samples].flatMap(([, list]) => [...list!.matchAll(/(\w+)="/g)].map(([, label]) => label!));
      return [...new Set(labels)].filter((label) => label !== 'le').map(code);
    };
    const described = [...text.matchAll(/^# HELP (\w+) (.*)\n# TYPE \w+ (\w+)$/gm)];
    const ours = described.filter(([, name]) => !/^bot_detection_(process|nodejs)_/.test(name!));
    expect(ours.length).toBeGreaterThan(10);
    const rows = ours.map(([, name, help, type]) => [code(name!), type!, labelsOf(name!).join(', '), help!]);
    const page = `# Metrics

${NOTE}

\`GET /metrics\` of the [private port](operating.md#health-readiness-metrics-logs), in Prometheus' text format. The metrics of
Node (\`bot_detection_process_…\`, \`bot_detection_nodejs_…\`: memory, CPU, event loop, garbage collection) are served too.

${writeTable(['metric', 'type', 'labels', 'what'], rows)}
`;
    await expect(page).toMatchFileSnapshot('../../docs/metrics.md');
  });
});

describe('docs/operating.md', () => {
  it('has every table and what bounds it', async () => {
    const path = 'docs/operating.md';
    const rows = Object.entries(TABLE_BOUNDS).map(([name, bound]) => [code(name), bound]);
    const section = `${NOTE}\n\n${writeTable(['table', 'what bounds it'], rows)}\n\n<!-- End of the generated table. -->`;
    const page = readFileSync(path, 'utf8').replace(
      /<!-- Generated.*<!-- End of the generated table. -->/s,
      () => section,
    );
    expect(page).toContain(section);
    await expect(page).toMatchFileSnapshot(`../../${path}`);
  });
});

describe('docs/detection.md', () => {
  /** What the laboratory measured of rules, on sessions that they were not tuned on. */
  const RESULTS = 'tests/lab/results.json';
  interface Rate {
    found: number;
    of: number;
  }
  const { rules: rates = {} } = (existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : {}) as {
    rules?: Record<string, { drivers?: Rate; people?: Rate }>;
  };
  const showRate = (rate: Rate | undefined) => (rate ? `${rate.found} of ${rate.of}` : 'not measured');
  const showWeight = ({ weight, isProof }: WeightedRule) => `${weight}${isProof ? ', proof' : ''}`;
  const showGroups = (groups: Partial<Record<string, string>>) =>
    Object.entries(groups)
      .map(([group, words]) => `${PEOPLE_GROUPS[group as keyof typeof PEOPLE_GROUPS]}: ${words}`)
      .join('; ') || '–';

  it('has every rule, for deans and for engineers', async () => {
    const path = 'docs/detection.md';
    const meanings = RULES.map((each) => [
      code(each.rule.flag === 'declared-agent' ? 'declared-agent:NAME' : each.rule.flag),
      ...[each.rule.group, each.rule.plainly, showWeight(each)],
    ]);
    const details = RULES.map(({ rule }) => [
      ...[code(rule.flag), rule.sees, rule.expected, rule.needs, showGroups(rule.exempts), showGroups(rule.touches)],
      ...[showRate(rates[rule.flag]?.drivers), showRate(rates[rule.flag]?.people), rule.reference ?? ''],
    ]);
    const section = `<!-- Generated: the rules. To write them again: npx vitest run tests/unit/reference-pages.test.ts -u -->

What each rule means, in words for everybody:

${writeTable(['flag', 'group', 'what it means', 'weight'], meanings)}

What each rule does, for engineers. The last rates are of sessions in which it was found: of drivers, and of people as the laboratory
imitates them.

${writeTable(
  [...['flag', 'sees', 'usual', 'needs', 'exempts', 'may also flag'], ...['drivers', 'people', 'reference']],
  details,
)}

<!-- End of the rules. -->`;
    const page = readFileSync(path, 'utf8').replace(
      /<!-- Generated: the rules.*<!-- End of the rules. -->/s,
      () => section,
    );
    expect(page).toContain(section);
    await expect(page).toMatchFileSnapshot(`../../${path}`);
  });
});

describe('the figures of evidence reports', () => {
  interface Found {
    found: number;
    of: number;
  }
  interface Results {
    ruleSetVersion: string;
    allDrivers: { bot: object };
    allPeople: { bot: object };
    rules: Record<string, { drivers: Found; people: Found }>;
  }

  it('are those of the laboratory', async () => {
    const results = JSON.parse(readFileSync('tests/lab/results.json', 'utf8')) as Results;
    const countOf = ({ found, of }: Found) => ({ count: found, of });
    const rules = Object.entries(results.rules).map(([flag, { drivers, people }]) => [
      ...[flag, { programs: countOf(drivers), people: countOf(people) }],
    ]);
    const figures = {
      ruleSetVersion: results.ruleSetVersion,
      programs: results.allDrivers.bot,
      people: results.allPeople.bot,
      rules: Object.fromEntries(rules),
    };
    const text = `${JSON.stringify(figures, null, 2)}\n`;
    await expect(text).toMatchFileSnapshot('../../server/detection/laboratory.json');
  });
});

describe('docs/findings.md', () => {
  it('has every rule', async () => {
    const path = 'docs/findings.md';
    const list = (items: string[]) => items.join('; ') || '–';
    const rows = RULE_DESCRIPTIONS.map(({ name, definition, parameters, severity, metadata, innocent }) => [
      ...[code(name), definition, list(parameters), severity],
      ...[list(metadata.map((field) => field.replace(/^\w+/, '`$&`'))), list(innocent)],
    ]);
    const section = `<!-- Generated: the rules on findings. To write them again: npx vitest run tests/unit/reference-pages.test.ts -u -->

${writeTable(['rule', 'definition', 'parameters', 'severity', 'metadata', 'other reasons'], rows)}

<!-- End of the rules on findings. -->`;
    const page = readFileSync(path, 'utf8').replace(
      /<!-- Generated: the rules on findings.*<!-- End of the rules on findings. -->/s,
      () => section,
    );
    expect(page).toContain(section);
    await expect(page).toMatchFileSnapshot(`../../${path}`);
  });
});

describe('docs/writing.md', () => {
  it('has every reason', async () => {
    const path = 'docs/writing.md';
    const rows = WRITING_RULES.map(({ name, plainly, expected, weight, group }) => [
      ...[code(name), plainly, expected, `${weight}${group === 'copying' ? ', if all four are found' : ''}`],
    ]);
    const table = writeTable(['reason', 'what was seen', 'usual', 'weight'], rows);
    const page = readFileSync(path, 'utf8').replace(
      /(<!-- Generated: the reasons\..*? -->)\n.*(<!-- End of the generated reasons\. -->)/s,
      (_, begin: string, end: string) => `${begin}\n\n${table}\n\n${end}`,
    );
    expect(page).toContain(table);
    await expect(page).toMatchFileSnapshot(`../../${path}`);
  });
});
