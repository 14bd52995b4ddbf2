import { EventCode } from '../../../../contract/beacon';
import { CHROME, FIREFOX } from '../../../support/trace';
import { type Build, both, type Case, keys, nothing, presses, text, times, touch } from './builds';

const replayed =
  (isReplay: boolean): Build =>
  () => ({ isReplay });

/** The cases of the rules on the session as a whole and how it was sent, by flag. */
export const TELEMETRY_CASES: Record<string, Case[]> = {
  'replayed-trace': [
    ['input that was seen before', 'found', replayed(true)],
    ['input that was not', 'notFound', replayed(false)],
    ['input of which that is not known', 'notMeasured', presses(9)],
  ],
  'off-grid-times': [
    ['times with many fractions', 'found', keys(12, { gapMs: (i) => 90.1 + i * 0.3 })],
    ['times of devices', 'notFound', keys(12, { gapMs: (i) => 90 + i })],
    ['few times', 'notMeasured', keys(7, { gapMs: (i) => 90.1 + i * 0.3 })],
    ['Firefox', 'notMeasured', keys(12, { gapMs: (i) => 90.1 + i * 0.3 }), {}, FIREFOX],
    [
      'Windows',
      'notMeasured',
      keys(12, { gapMs: (i) => 90.1 + i * 0.3 }),
      {},
      CHROME.replace('X11; Linux x86_64', 'Windows NT 10.0; Win64; x64'),
    ],
    [
      'Android',
      'notMeasured',
      keys(12, { gapMs: (i) => 90.1 + i * 0.3 }),
      {},
      CHROME.replace('X11; Linux x86_64', 'Linux; Android 16'),
    ],
    ['eight times with three fractions', 'found', keys(8, { gapMs: (i) => [90.1, 90.1, 89.8][i % 3]! })],
    ['with two', 'notFound', keys(8, { gapMs: (i) => [90.1, 89.9][i % 2]! })],
    ['touch', 'notMeasured', both(touch, keys(12, { gapMs: (i) => 90.1 + i * 0.3 }))],
  ],
  'telemetry-gap': [
    ['a batch that is missing', 'found', (builder) => builder.send({ n: 5 })],
    ['events that were dropped', 'found', (builder) => builder.send({ l: [3, 1] })],
    ['one event that was dropped', 'found', (builder) => builder.send({ l: [0, 1] })],
    ['everything', 'notFound', nothing],
  ],
  'clock-inconsistent': [
    [
      'a clock that was set back',
      'found',
      (builder) =>
        builder
          .send()
          .wait(60_000)
          .send({ c: [60_100, 1_800_000_010_000] }),
    ],
    [
      'a clock that was set forward',
      'found',
      (builder) =>
        builder
          .send()
          .wait(60_000)
          .send({ c: [60_100, 1_800_009_000_000] }),
    ],
    ...(
      [
        [-5_000, 'found'],
        [-4_999, 'notFound'],
        [4_999, 'notFound'],
        [5_000, 'found'],
      ] as const
    ).map(
      ([errorMs, state]): Case => [
        `a clock that is ${errorMs} ms off`,
        state,
        (builder) =>
          builder
            .send()
            .wait(60_000)
            .send({ c: [60_100, 1_800_000_060_100 + errorMs] }),
      ],
    ),
    ['clocks that agree', 'notFound', (builder) => builder.send().wait(60_000).send()],
    [
      'a computer that slept',
      'notFound',
      (builder) =>
        builder
          .send()
          .wait(60_000)
          .send({ c: [60_100, 1_800_003_660_000], receivedAtMs: 1_800_003_660_040 }),
    ],
    [
      'a batch that came late',
      'notFound',
      (builder) => builder.send().wait(60_000).send({ receivedAtMs: 1_800_000_900_000 }),
    ],
  ],
  'insufficient-evidence': [
    ['little that was done', 'found', presses(2)],
    ['enough', 'notFound', presses(3)],
    ['two keys', 'found', (builder) => times(2, () => builder.key('tab', 80))],
    ['three keys', 'notFound', (builder) => times(3, () => builder.key('tab', 80))],
    ['three texts without keys', 'notFound', (builder) => times(3, () => text('insertText', 5)(builder))],
    ['two of them and a press', 'notFound', both(text('insertText', 5), text('insertText', 5), presses(1))],
    [
      'three clicks of a script',
      'notFound',
      (builder) => times(3, () => builder.wait(5_000).add(EventCode.Click, { flags: 0, role: 9 })),
    ],
  ],
};
