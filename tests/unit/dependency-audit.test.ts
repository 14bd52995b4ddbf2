import { describe, expect, it } from 'vitest';
import { judgeAudit } from '../dependency-audit.mjs';

const report = (severities: Record<string, string>) => {
  const count = (level: string) => Object.values(severities).filter((severity) => severity === level).length;
  const vulnerabilities = Object.fromEntries(
    Object.entries(severities).map(([name, severity]) => [name, { name, severity, range: '<2' }]),
  );
  const counts = {
    info: 0,
    low: count('low'),
    moderate: count('moderate'),
    high: count('high'),
    critical: count('critical'),
  };
  return JSON.stringify({ auditReportVersion: 2, vulnerabilities, metadata: { vulnerabilities: counts } });
};

describe('the audit of dependencies', () => {
  it('passes without vulnerabilities of the levels that fail', () => {
    expect(judgeAudit(report({}))).toEqual({ outcome: 'clean' });
    expect(judgeAudit(report({ left: 'low', right: 'moderate' }))).toEqual({ outcome: 'clean' });
  });

  it('fails for high and critical vulnerabilities, and names them', () => {
    expect(judgeAudit(report({ left: 'low', undici: 'high', next: 'critical' }))).toEqual({
      outcome: 'vulnerable',
      why: 'undici <2 (high), next <2 (critical)',
    });
  });

  it('is skipped, with a reason, if no registry with an audit service answered', () => {
    const refused = { message: '405 Method Not Allowed - POST https://registry.example.com/audit', statusCode: 405 };
    expect(judgeAudit(JSON.stringify(refused))).toEqual({
      outcome: 'skipped',
      why: `the registry audits nothing: ${refused.message}`,
    });
    for (const printed of ['', 'nonsense', '{}', '{"error":{"summary":"offline"}}'])
      expect([printed, judgeAudit(printed).outcome]).toEqual([printed, 'skipped']);
  });
});
