/** Half of what a 95 % interval may miss. */
const TAIL = 0.025;
const PRECISION = 1e-12;
const MAX_STEPS = 200;
/** A continued fraction needs about the root of its larger parameter. */
const MAX_TERMS = 100_000;
const TINY = 1e-300;

/** The largest share of which `count` or more of `of` are unlikely (Clopper and Pearson, 95 %). 0 of nothing. */
export const findLowerBound = (count: number, of: number): number =>
  count === 0 ? 0 : invertBeta(TAIL, count, of - count + 1);

/** The smallest share of which `count` or fewer of `of` are unlikely (Clopper and Pearson, 95 %). 1 of nothing. */
export const findUpperBound = (count: number, of: number): number =>
  count === of ? 1 : invertBeta(1 - TAIL, count + 1, of - count);

/** Finds the quantile of a beta distribution by Newton's method, within an interval that is halved where it fails. */
function invertBeta(target: number, a: number, b: number): number {
  const logScale = logGamma(a + b) - logGamma(a) - logGamma(b);
  let [low, high, x] = [0, 1, a / (a + b)];
  for (let step = 0; step < MAX_STEPS; step++) {
    const density = Math.exp(logScale + (a - 1) * Math.log(x) + (b - 1) * Math.log1p(-x));
    const excess = integrateBeta(x, a, b, logScale) - target;
    if (excess > 0) high = x;
    else low = x;
    const newton = x - excess / density;
    const next = newton > low && newton < high ? newton : (low + high) / 2;
    if (Math.abs(next - x) <= PRECISION * x) return next;
    x = next;
  }
  return x;
}

/** The regularized incomplete beta function. */
function integrateBeta(x: number, a: number, b: number, logScale: number): number {
  const factor = Math.exp(logScale + a * Math.log(x) + b * Math.log1p(-x));
  // The fraction converges fast below the mean. Above it, the other side is computed.
  return x < (a + 1) / (a + b + 2)
    ? (factor * continueFraction(x, a, b)) / a
    : 1 - (factor * continueFraction(1 - x, b, a)) / b;
}

/** The continued fraction of the incomplete beta function, by Lentz's method. */
function continueFraction(x: number, a: number, b: number): number {
  const awayFromZero = (value: number) => (Math.abs(value) < TINY ? TINY : value);
  let c = 1;
  let d = 1 / awayFromZero(1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let m = 1; m <= MAX_TERMS; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    let factor = 1;
    for (const term of [even, odd]) {
      d = 1 / awayFromZero(1 + term * d);
      c = awayFromZero(1 + term / c);
      factor = c * d;
      value *= factor;
    }
    if (Math.abs(factor - 1) < PRECISION) return value;
  }
  throw new Error('the incomplete beta function does not converge');
}

const LANCZOS = [
  ...[0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059],
  ...[12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7],
];
const LANCZOS_G = 7;

/** The logarithm of the gamma function of a number from 1 on, by Lanczos's approximation. */
function logGamma(value: number): number {
  const x = value - 1;
  const sum = LANCZOS.reduce((total, coefficient, n) => total + (n === 0 ? coefficient : coefficient / (x + n)), 0);
  const t = x + LANCZOS_G + 0.5;
  return 0.5 * Math.log(2 * Math.PI) + (x + 0.5) * Math.log(t) - t + Math.log(sum);
}
