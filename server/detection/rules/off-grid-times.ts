import { decide, isChromium, isLinux, NOT_MEASURED, type Rule } from './rule';

export const offGridTimesRule: Rule = {
  ...{ flag: 'off-grid-times', group: 'context', expected: '2 fractions or fewer' },
  sees:
    'Times of keys and presses with many different fractions of a millisecond. On Linux the system stamps input ' +
    'of devices with whole milliseconds, so all times of a document have the same fraction; input that a ' +
    'program makes inside of the browser has any. Evidence only: it is known of one system so far.',
  needs: '8 keys or presses in Chromium on Linux, not Android',
  plainly:
    'Clicks and keys came at times that devices on this system do not have. It never counts, because little is ' +
    'known about it.',
  exempts: {
    touch: 'is not judged',
    'remote-desktop': 'its input passes through the system as that of devices',
    'slow-machine': 'times are those of the device, however late they are read',
  },
  touches: {},
  reference: 'Linux input subsystem, X11 event times in milliseconds',
  judge(features) {
    const { count, tenths } = features.times;
    if (!isChromium(features) || !isLinux(features) || features.hasTouch || count < MIN_TIMES) return NOT_MEASURED;
    let fractions = 0;
    for (let bits = tenths; bits > 0; bits >>= 1) fractions += bits & 1;
    return decide(fractions > MAX_FRACTIONS, fractions, []);
  },
};

const MIN_TIMES = 8;
const MAX_FRACTIONS = 2;
