import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { CHART_COLORS } from '../../contract/chart-colors';
import type { ReportHead } from '../../server/reports/file-writer';
import { layOutDocument, MAX_PRINTED_ROWS, printCell } from '../../server/reports/pdf/document';
import { findFonts } from '../../server/reports/pdf/fonts';
import { renderPdf } from '../../server/reports/pdf/renderer';
import type { Cell, ReportSection } from '../../server/reports/template';

// Reports as documents, set by the real library.

const HEAD: ReportHead = {
  ...{ reportId: 'rep_1', name: 'Käthe’s “list” #1', template: 'sessions', about: 'Every session.' },
  ...{ integrationName: 'University', parameters: { days: 7, courseId: 'c-1' }, listTitle: 'Sessions' },
  startAt: '2026-11-15T09:30:00.000Z',
  sessionsKeptFrom: '2026-11-16T09:30:00.000Z',
  endAt: '2026-11-22T09:30:00.000Z',
  requestedAt: '2026-11-22T09:30:01.000Z',
  columns: [
    { key: 'sessionId', title: 'Session', isPrinted: true },
    { key: 'hidden', title: 'Hidden' },
    { key: 'userName', title: 'Name', isPrinted: true },
  ],
};
const SECTIONS: ReportSection[] = [
  { key: 'totals', title: 'Totals', numbers: [{ key: 'n', title: 'Sessions', value: 12 }] },
  {
    ...{ key: 'days', title: 'Days' },
    chart: {
      summary: 'Sessions of two days.',
      labels: ['11-21', '11-22'],
      series: [
        { name: 'Bot', tone: 'bot', values: [1, 0] },
        { name: 'Other sessions', tone: 'neutral', values: [4, 7] },
      ],
    },
  },
  { key: 'none', title: 'Anomalies', table: { columns: [{ key: 'id', title: 'Id' }], rows: [] } },
];

/** The bytes of a document with its streams inflated, so that its tags and operators can be read. */
function readDocument(bytes: Buffer): string {
  const text = bytes.toString('latin1');
  return text.replaceAll(/stream\r?\n([\s\S]*?)\r?\nendstream/g, (whole, stream: string) => {
    try {
      return inflateSync(Buffer.from(stream, 'latin1')).toString('latin1');
    } catch {
      return whole;
    }
  });
}
const countTags = (document: string, tag: string) => [...document.matchAll(new RegExp(`/S\\s*/${tag}\\b`, 'g'))].length;

const render = (rows: Cell[][]) => renderPdf(layOutDocument(HEAD, SECTIONS, rows, 'nothing'));

describe('a report as a document', () => {
  it('has a title, a language, headings, a described figure and tables with headers, for screen readers', async () => {
    const document = readDocument(await render([['ses_1', 'x', 'Ada']]));
    expect(document).toMatch(/^%PDF-1\.7/);
    expect(document).toMatch(/\/MarkInfo\s*<<\s*\/Marked true/);
    expect(document).toMatch(/\/Lang\s*\(en/);
    expect(document).toContain('Sessions of two days.');
    expect(countTags(document, 'H1')).toBe(4);
    expect(countTags(document, 'Figure')).toBe(1);
    expect(countTags(document, 'Table')).toBe(2);
    expect(countTags(document, 'TH')).toBe(4);
    expect(document).toContain('Typst');
  });

  it('takes names for text, never for markup, whatever is in them', async () => {
    const names = [
      '#set page(width: 1pt)',
      '$x$ *b* _i_ @cite <label>',
      '```\n#read("/etc/passwd")\n```',
      '\\u{0}',
      '= H',
    ];
    const document = readDocument(await render(names.map((name, n) => [`ses_${n}`, null, name])));
    expect(countTags(document, 'H1')).toBe(4);
    expect(countTags(document, 'TR')).toBe(2 + 1 + names.length);
  });

  it('breaks a title that is one long word, so that it stays on the page', async () => {
    const titled = { ...HEAD, name: 'W'.repeat(200) };
    const document = readDocument(await renderPdf(layOutDocument(titled, SECTIONS, [], 'nothing')));
    const lines = document.match(/BT[\s\S]*?ET/g)!.filter((line) => line.includes(' 17 Tf'));
    expect(lines).toHaveLength(5);
  });

  it('turns no text around because a name or an id has marks of direction', async () => {
    const head = { ...HEAD, name: 'List\u202e 1', parameters: { userId: '\u202etneduts\u2069\u202e' } };
    const rows = [['ses_1', null, '\u2067\u202emuh\u202c 4711']];
    const data = layOutDocument(head, SECTIONS, rows, 'nothing');
    expect(readDocument(await renderPdf(data))).not.toContain('/ReversedChars');
    expect([data.name, data.facts[1], data.rows[0]]).toEqual(['List 1', ['User', 'tneduts'], ['ses_1', 'muh 4711']]);
  });

  it('draws names in many scripts with a font of the script, and embeds no other', async () => {
    const names = ['Ada', 'Ελένη', 'Иван', 'नरेन्द्र', 'محمد', 'שלום', 'วิชัย', 'বাংলা', '李小龙', 'さくら', '山﨑', '김철수'];
    const embedded = async (rows: Cell[][]) =>
      [
        ...new Set(
          [...readDocument(await render(rows)).matchAll(/\/FontName\s*\/[A-Z]{6}\+([A-Za-z]+)/g)].map(
            ([, name]) => name,
          ),
        ),
      ].sort();
    expect(await embedded([['ses_1', null, 'Ada']])).toEqual(['NotoSans']);
    expect(await embedded(names.map((name) => ['ses_1', null, name]))).toEqual([
      'MotoyaLCedar',
      'NanumGothic',
      'NotoSans',
      'NotoSansArabic',
      'NotoSansBengali',
      'NotoSansHans',
      'NotoSansHebrew',
      'NotoSansThai',
    ]);
  });

  it('says that its list is cut', () => {
    expect(layOutDocument(HEAD, [], [], 'nothing').facts).toContainEqual([
      ...['Sessions', 'kept since 2026-11-16 09:30:00; earlier ones are removed'],
    ]);
    expect(layOutDocument(HEAD, [], [['a', 'b', 'c']], 'rows').note).toMatch(/first 1 rows.* There are more/);
    expect(layOutDocument(HEAD, [], [['a', 'b', 'c']], 'unread').note).toMatch(/first 1 rows.* There may be more/);
    expect(layOutDocument(HEAD, [], [['a', 'b', 'c']], 'nothing')).toMatchObject({
      note: null,
      columns: ['Session', 'Name'],
      rows: [['a', 'c']],
      facts: expect.arrayContaining([
        ['Course', 'c-1'],
        ['Window', '2026-11-15 09:30:00 to 2026-11-22 09:30:00'],
      ]),
    });
  });

  it('may be as long as a list may be, with long words, and is set while the process answers others', async () => {
    const rows = Array.from({ length: MAX_PRINTED_ROWS }, (_, n) => [
      `ses_${n}`,
      null,
      n % 50 ? `User ${n}` : 'x'.repeat(900),
    ]);
    let turns = 0;
    const timer = setInterval(() => turns++, 20);
    const bytes = await render(rows);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(10);
    expect(countTags(readDocument(bytes), 'TR')).toBe(2 + 1 + MAX_PRINTED_ROWS);
  });

  it('that has a fault fails, and the next one is set', async () => {
    const bad = layOutDocument(HEAD, SECTIONS, [], 'nothing');
    const series = [{ name: 'Bot', color: 'nonsense', values: [] }];
    const sections = [{ title: 'Days', chart: { summary: 'None', labels: ['11-21'], series } }];
    await expect(renderPdf({ ...bad, sections })).rejects.toThrow('faults');
    expect((await render([])).length).toBeGreaterThan(1_000);
  });
});

describe('a printed value', () => {
  it.each([
    [null, ''],
    [undefined, ''],
    [0.123456, '0.123'],
    // At a cut point of 70 it is no bot, and of a user's confidence below 0.7 the document says what it means.
    [0.6996, '0.699'],
    [0.9999, '0.999'],
    [0.0004, '<0.001'],
    [4e-8, '<0.001'],
    [0.29, '0.29'],
    [0.6004, '0.6'],
    [33.33333333333333, '33.333'],
    [0, '0'],
    [12, '12'],
    [true, 'yes'],
    [['a', 'b'], 'a; b'],
    ['2026-11-22T09:30:01.000Z', '2026-11-22 09:30:01'],
    ['2026-11-22', '2026-11-22'],
  ])('%j is %s', (cell, printed) => {
    expect(printCell(cell)).toBe(printed);
  });
});

describe('the fonts', () => {
  it('are those that a text needs', () => {
    expect(findFonts('Ada').families).toEqual(['Noto Sans']);
    expect(findFonts('東京 さくら').families).toEqual(['Noto Sans', 'Noto Sans S Chinese', 'MotoyaLCedar']);
    expect(findFonts('محمد').paths).toHaveLength(3);
  });
});

it('the charts have the colours of the dashboard', () => {
  const styles = readFileSync('app/globals.css', 'utf8');
  for (const [tone, color] of Object.entries(CHART_COLORS))
    expect([tone, styles.match(new RegExp(`--color-${tone}-fill: light-dark\\((#\\w+),`))?.[1]]).toEqual([tone, color]);
});
