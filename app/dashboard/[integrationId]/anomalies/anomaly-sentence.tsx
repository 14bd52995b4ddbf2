import type { Anomaly } from '../../../../contract/findings';
import { HoverLink } from '../../components/hover-link';
import { Time } from '../../components/time';
import { describeAnomaly, type Named, type Part } from './anomaly-words';

const LINK = 'break-words text-accent underline-offset-2 hover:underline';

/** What was seen, with links to users, devices and sessions. Nothing if nobody has described it. */
export function AnomalySentence({ anomaly, base }: { anomaly: Anomaly; base: string }) {
  const parts = describeAnomaly(anomaly);
  return (
    parts && (
      <p className="mb-4 break-words">
        {parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a sentence have no other key
          <SentencePart key={index} part={part} base={base} />
        ))}
      </p>
    )
  );
}

function SentencePart({ part, base }: { part: Part; base: string }) {
  if (typeof part === 'string') return part;
  if (part.kind === 'time') return <Time at={part.at} absolute />;
  return (
    <HoverLink className={LINK} href={base + pathOf(part)} title={part.id}>
      {part.name}
    </HoverLink>
  );
}

function pathOf({ kind, id }: Named): string {
  if (kind === 'device') return `/sessions?fingerprint=${encodeURIComponent(id)}`;
  return `/${kind}s/${encodeURIComponent(id)}`;
}
