const exact = new Intl.NumberFormat('en-US');
const short = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });

/** Writes a whole number with thousands separators. */
export const showCount = (value: number) => exact.format(value);

/** Abbreviates a big number: `1.2M`. Numbers below ten thousand stay exact. */
export const shortenCount = (value: number) => (Math.abs(value) < 10_000 ? showCount(value) : short.format(value));

/** A count, abbreviated if it is big, with the exact value on hover. */
export function Count({ value }: { value: number }) {
  return <span title={showCount(value)}>{shortenCount(value)}</span>;
}

/** Writes a share from 0 to 1 as a whole percentage. Only nothing is 0%, and only all is 100%. */
export function showPercent(share: number): string {
  if (share > 0 && share < 0.01) return '<1%';
  if (share > 0.99 && share < 1) return '>99%';
  return `${Math.round(share * 100)}%`;
}

/** Writes a share from 0 to 1 as a percentage with so many digits. Only all is 100 %. */
export function writeShare(share: number, digits: number): string {
  const percent = Number((share * 100).toPrecision(digits));
  return share < 1 && percent === 100 ? '>99 %' : `${percent} %`;
}

/** A share from 0 to 1 as a whole percentage, with the exact value on hover. */
export function Percent({ share }: { share: number }) {
  return <span title={`${(share * 100).toFixed(2)}%`}>{showPercent(share)}</span>;
}

const BYTE_UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

/** A size in bytes in a suitable unit, with the exact value on hover. */
export function Bytes({ value }: { value: number }) {
  const unit = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3));
  const amount = value / 1000 ** unit;
  const text = unit > 0 && amount < 10 ? amount.toFixed(1) : Math.round(amount);
  return (
    <span className="whitespace-nowrap" title={`${showCount(value)} bytes`}>
      {text} {BYTE_UNITS[unit]}
    </span>
  );
}
