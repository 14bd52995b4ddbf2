import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import * as contract from '../../contract/beacon';
import { cleanAddress } from '../../pixel/addresses';
import { addBounded, type PixelEvent, takeEvents } from '../../pixel/batches';
import { buildPixel, listReplaced } from '../../pixel/build.mjs';
import { InputType, KeyClass, MARKS, PageCause, Pointer, packBits, Role } from '../../pixel/codes';
import { createThinner, type TrackPoint } from '../../pixel/thinning';

const MAX_GZIP_BYTES = 6_144;
const { Move, MoveSummary, Page, KeyUp, Alive, Input, Writing } = contract.EventCode;

describe('the released pixel', () => {
  it('is what the sources build, byte for byte, and is small enough', async () => {
    const { bytes, current } = await buildPixel();
    expect(JSON.parse(readFileSync('pixel/released/current.json', 'utf8')), 'run npm run pixel').toEqual(current);
    expect(Buffer.compare(readFileSync(`pixel/released/${current.file}`), bytes)).toBe(0);
    expect(gzipSync(bytes, { level: 9 }).length).toBeLessThanOrEqual(MAX_GZIP_BYTES);
  });

  it('stays while pages may ask for it: each file is the current one or named in the changelog', () => {
    const { file } = JSON.parse(readFileSync('pixel/released/current.json', 'utf8'));
    const files = readdirSync('pixel/released');
    expect(listReplaced(files, file, readFileSync('CHANGELOG.md', 'utf8'))).toEqual([]);
    const released = 'Pixel `0000000000000001.js`';
    const before = ['0000000000000001.js', '0000000000000002.js', '0000000000000003.js', 'current.json'];
    expect(listReplaced(before, '0000000000000003.js', released)).toEqual(['0000000000000002.js']);
  });

  it('contains no eval, no cookie and nothing that writes into the page', () => {
    const files = readdirSync('pixel/released').filter((name) => name.endsWith('.js'));
    expect(files.length).toBeGreaterThan(0);
    for (const name of files) {
      const text = readFileSync(`pixel/released/${name}`, 'utf8');
      expect(text).not.toMatch(/\beval\b|new Function|\.cookie|innerHTML|document\.write|insertAdjacent|appendChild/);
    }
  });
});

describe('the codes of the pixel', () => {
  const namesOf = (list: object) => Object.keys(list).filter((name) => Number.isNaN(Number(name)));

  it.each([
    ['KeyClass', KeyClass, contract.KEY_CLASSES],
    ['InputType', InputType, contract.INPUT_TYPES],
    ['Role', Role, contract.ELEMENT_ROLES],
    ['Pointer', Pointer, contract.POINTERS],
    ['PageCause', PageCause, contract.PAGE_CAUSES],
  ] as const)('%s has the order of the contract', (_name, codes, list) => {
    expect(namesOf(codes)).toEqual([...list]);
  });

  it('pack bits in the order of the contract', () => {
    const inOrder = (bits: object) => Object.values(bits).map((_, index) => 2 ** index);
    expect(Object.values(contract.EVENT_FLAGS)).toEqual(inOrder(contract.EVENT_FLAGS));
    expect(Object.values(contract.ENVIRONMENT_BITS)).toEqual(inOrder(contract.ENVIRONMENT_BITS));
    expect(packBits(1, '', 'KeyA', undefined, true)).toBe(0b10101);
  });

  it('name the same marks', () => {
    const WAYS = {
      window: (name: string) => (name.endsWith('*') ? name.slice(0, -1) : `${name},`),
      body: (name: string) => `body>#${name}`,
      root: (name: string) => `html[${name}]`,
      retired: () => '',
    };
    expect(MARKS).toEqual(contract.AUTOMATION_MARKS.map(([where, name]) => WAYS[where](name)));
  });
});

describe('an address', () => {
  const ORIGIN = 'https://lms.example.edu';

  it.each([
    '/',
    '/courses/42/quizzes/7/take',
    '/mod/quiz/attempt.php?attempt=123&cmid=77',
    '/ultra/courses/_12345_1/outline?course_id=_12345_1',
    '/d2l/le/content/6606/viewContent/1234/View',
    '/d2l/lms/quizzing/user/quiz_summary.d2l?ou=6606',
    '/kurse/MATH10101/vorlesung-3-teil-2/',
    '/2026/11/22/introduction2024-part-2',
    '/caf%C3%A9/r%C3%A9sum%C3%A9',
    '/courses/10000000000012345',
    '/courses/course-v1:MITx+6.00.1x+2T2024/courseware/week-1/',
    '/courses/course-v1%3AedX%2BDemoX%2BDemo_Course/about',
  ])('%s stays as it is', (path) => {
    expect(cleanAddress(ORIGIN + path)).toBe(ORIGIN + path);
  });

  it.each([
    ['/quiz?token=abc&id=5&sesskey=x1#answer', '/quiz?id=5'],
    ['/view?ID=5&course=8&Course=9', '/view?course=8'],
    ['/reset/550e8400-e29b-41d4-a716-446655440000', '/reset/…'],
    ['/reset/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln/done', '/reset/…/done'],
    ['/join/aGVsbG8gd29ybGQgZm9v', '/join/…'],
    ['/join/x7Kp9Q2m', '/join/…'],
    ['/a/9f86d081884c7d659a2feaa0c55ad015', '/a/…'],
    [`/a/${'z'.repeat(40)}`, '/a/…'],
    ['/users/ada@example.org/edit', '/users/…/edit'],
    ['/users/ada%2540example.org/edit', '/users/…/edit'],
    ['/users/ada%40example.org/edit', '/users/…/edit'],
    ['/students/s1234567', '/students/…'],
    ['/call/+4915112345678', '/call/…'],
    ['/search/what%20ada%20typed', '/search/…'],
    ['/search/what+ada+typed', '/search/…'],
    ['/courses/course-v1:ada+x@example.org', '/courses/…'],
    ['/asset-v1:edX+DemoX+Demo_Course+type@asset', '/…'],
    ['/card/4111111111111111111', '/card/…'],
    ['/page;jsessionid=0A1B2C3D4E', '/page'],
    ['/page%3Bjsessionid=0A1B2C3D4E', '/page'],
    ['/odd/%FF%FE', '/odd/…'],
    ['/q?id=ada%40example.org', '/q?id=…'],
    ['/q?attempt=550e8400-e29b-41d4-a716-446655440000', '/q?attempt=…'],
  ])('%s becomes %s', (path, cleaned) => {
    expect(cleanAddress(ORIGIN + path)).toBe(ORIGIN + cleaned);
  });

  it('loses a user name and a password', () => {
    expect(cleanAddress('https://ada:secret@lms.example.edu/x')).toBe(`${ORIGIN}/x`);
  });

  it('is empty if it is none of the web', () => {
    for (const href of ['file:///home/ada/x.html', 'about:srcdoc', 'blob:https://a.example/1', 'data:text/html,x'])
      expect(cleanAddress(href)).toBe('');
  });

  it('has at most 512 characters', () => {
    expect(cleanAddress(`${ORIGIN}/${'word/'.repeat(500)}`)).toHaveLength(512);
  });
});

describe('a thinned track', () => {
  const thin = (points: TrackPoint[], tolerance = 1.5) => {
    const kept: TrackPoint[] = [];
    const [add, settle] = createThinner((point) => kept.push(point), tolerance);
    for (const point of points) add(point);
    settle();
    return kept;
  };
  const track = (count: number, at: (index: number) => [x: number, y: number]) =>
    Array.from({ length: count }, (_, index): TrackPoint => [index * 16, ...at(index)]);

  it('loses the middle of straight stretches, but not for long', () => {
    const line = track(12, (index) => [index * 5, index * 3]);
    expect(thin(line)).toEqual([line[0], line[11]]);
    const long = thin(track(200, (index) => [index * 5, 0]));
    expect(long.length).toBeGreaterThan(10);
    expect(long.length).toBeLessThan(20);
  });

  it('keeps corners, changes of speed and both ends of a pause', () => {
    const corner = track(20, (index) => (index < 10 ? [index * 8, 0] : [72, (index - 9) * 8]));
    expect(thin(corner)).toContainEqual(corner[9]);
    const brake = track(20, (index) => [index < 10 ? index * 10 : 90 + (index - 9), 0]);
    expect(thin(brake)).toContainEqual(brake[9]);
    const pause: TrackPoint[] = [...track(5, (index) => [index * 5, 0]), [900, 21, 0], [916, 26, 0]];
    expect(thin(pause)).toEqual([pause[0], pause[4], pause[5], pause[6]]);
  });

  it('is never far from the whole track', () => {
    const circle = track(300, (index) => [200 + 150 * Math.cos(index / 20), 200 + 120 * Math.sin(index / 13)]);
    const kept = thin(circle);
    expect(kept.length).toBeLessThan(circle.length / 2);
    for (const [timeMs, x, y] of circle) {
      const next = kept.findIndex(([at]) => at >= timeMs);
      const [a, b] = [kept[Math.max(0, next - 1)]!, kept[next]!];
      const share = (timeMs - a[0]) / (b[0] - a[0] || 1);
      const error = Math.hypot(a[1] + share * (b[1] - a[1]) - x, a[2] + share * (b[2] - a[2]) - y);
      expect(error).toBeLessThan(1.5 * 2 * (1 + kept.length / 40));
    }
  });

  it('has the first and the last point, also if they are the same', () => {
    expect(thin([])).toEqual([]);
    expect(thin([[5, 1, 1]])).toEqual([[5, 1, 1]]);
  });
});

describe('the buffer', () => {
  it('becomes columns of differences in order of time, and addresses become indexes', () => {
    const buffer: PixelEvent[] = [
      [1_000.04, Page, 'https://a.example/x', 0],
      [1_050, Move, 10.4, 20.6],
      [1_070, Move, 12, 18],
      [1_060, KeyUp, 3, 1],
      [1_080, Page, 'https://a.example/y', 1],
      [1_090, Page, 'https://a.example/x', 1],
    ];
    expect(takeEvents(buffer)).toEqual({
      ev: [
        ...[Page, 10_000, 0, 0, Move, 500, 10, 21, KeyUp, 100, 3, 1, Move, 100, 2, -3],
        ...[Page, 100, 1, 1, Page, 100, 0, 1],
      ],
      p: ['https://a.example/x', 'https://a.example/y'],
    });
    expect(buffer).toEqual([]);
  });

  it('has what is written as an index too, cut to what the collector takes, and 16 of these at most', () => {
    const long = 'x'.repeat(300);
    const buffer: PixelEvent[] = [
      ...[[10, Writing, 4, 'essay', 0] as PixelEvent, [10, Input, 4, 1, 1, 1, 1] as PixelEvent],
      ...[[20, Writing, 5, long, -1] as PixelEvent, [20, Input, 5, 1, 1, 1, 1] as PixelEvent],
      ...[[30, Writing, 4, 'essay', 7] as PixelEvent, [30, Input, 4, 1, 1, 9, 1] as PixelEvent],
    ];
    expect(takeEvents(buffer)).toEqual({
      ev: [
        ...[Writing, 100, 4, 0, 0, Input, 0, 4, 1, 1, 1, 1, Writing, 100, 5, 1, -1, Input, 0, 5, 1, 1, 1, 1],
        ...[Writing, 100, 4, 0, 7, Input, 0, 4, 1, 1, 9, 1],
      ],
      w: ['essay', 'x'.repeat(contract.MAX_WRITTEN_DOCUMENT_LENGTH)],
    });
    const many = Array.from({ length: 20 }, (_, n): PixelEvent => [n, Writing, n, `essay ${n}`, 0]);
    expect([takeEvents(many).w?.length, takeEvents(many).w?.length]).toEqual([contract.MAX_WRITTEN_DOCUMENTS, 4]);
  });

  it('gives batches that a page that goes can still send', () => {
    const press = Array.from({ length: 13 }, () => 123_456);
    const buffer: PixelEvent[] = Array.from({ length: 900 }, (_, index) => [index * 1e5, 3, ...press]);
    const sizes: number[] = [];
    while (buffer.length > 0) sizes.push(JSON.stringify(takeEvents(buffer)).length);
    expect(sizes.length).toBe(2);
    expect(Math.max(...sizes)).toBeLessThan(60_000);
  });

  it('is bounded: it drops moves first, then the oldest others, and counts both', () => {
    const dropped: [number, number] = [0, 0];
    const buffer: PixelEvent[] = [];
    const add = (event: PixelEvent) => addBounded(buffer, event, dropped);
    add([0, Page, 'https://a.example/x', 0]);
    for (let index = 1; index < 2_900; index++) add([index, Move, index, index]);
    for (let index = 0; index < 101; index++) add([3_000 + index, MoveSummary, 1, 1, 0, 0]);
    expect(dropped).toEqual([2_899, 0]);
    expect(buffer).toHaveLength(102);
    for (let index = 0; index < 2_899; index++) add([4_000 + index, Alive]);
    expect(dropped).toEqual([2_899, 1_500]);
    expect(buffer).toHaveLength(1_501);
    expect(buffer[0]).toEqual([0, Page, 'https://a.example/x', 0]);
    expect(buffer.at(-1)).toEqual([6_898, Alive]);
  });
});
