import { describe, expect, it } from 'vitest';
import { scoreWriting } from '../../../server/detection/writing-score';
import { readRecordings, readTrace } from '../../lab/recordings';

/** How each of them wrote a text of about 350 characters, and the most that its score may be. */
const WRITERS: [subject: string, source: 'typed' | 'composed' | 'pasted' | 'inserted', most: number][] = [
  ['mouse-chromium', 'typed', 0.1],
  ['developer-tools-firefox', 'typed', 0.1],
  ['puppeteer', 'typed', 0.1],
  ['playwright-mcp-slowly', 'typed', 0.1],
  ['pydoll', 'typed', 0.1],
  ['dictation-keys', 'composed', 0.1],
  // What the input method knows no sign for is typed.
  ['input-method-chromium', 'composed', 0.1],
  ['paste', 'pasted', 0.5],
  ['playwright-fill', 'inserted', 1],
  ['page-script', 'inserted', 1],
];

describe('a text that was recorded in a browser', () => {
  it.each(WRITERS)('by %s is %s', (subject, source, most) => {
    const recording = readRecordings(subject)!.recordings.find(({ task }) => task === 'composition')!;
    const [text, ...others] = scoreWriting(readTrace(recording).batches);
    const { characters } = text!.evidence;
    const count = Object.values(characters).reduce((sum, length) => sum + length, 0);
    expect(others).toEqual([]);
    expect(characters[source] / count).toBeGreaterThan(subject === 'input-method-chromium' ? 0.5 : 0.99);
    expect(text!.aiScore).toBeLessThanOrEqual(most);
    if (source === 'inserted') expect(text!.aiScore).toBeGreaterThan(0.9);
  });
});
