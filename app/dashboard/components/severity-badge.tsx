import { Badge } from './badge';

const GRAVE = new Set(['high', 'critical', 'severe', 'fatal', 'error']);

/** The severity of a finding, in the words of its source. */
export function SeverityBadge({ severity }: { severity: string }) {
  return (
    <Badge tone={GRAVE.has(severity) ? 'danger' : 'neutral'} title={severity}>
      {severity}
    </Badge>
  );
}
