import { Badge } from './badge';

const GRAVE = new Set(['high', 'critical', 'severe', 'fatal', 'error']);

/** How grave a finding is, in the words of whoever told of it. */
export function Severity({ severity }: { severity: string }) {
  return <Badge tone={GRAVE.has(severity) ? 'danger' : 'neutral'}>{severity}</Badge>;
}
