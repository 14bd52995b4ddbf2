// Asks the registry for known vulnerabilities of the production dependencies. Those of severity high and critical fail.
import { spawn } from 'node:child_process';

const LIMIT_MS = 60_000;
const LEVELS = ['high', 'critical'];

/**
 * Judges the JSON that `npm audit` prints: the vulnerabilities at the levels that fail, or why there is no answer. A
 * registry that refuses the question (a mirror without audits) or that cannot be reached says neither that all is well
 * nor that anything is wrong.
 * @param {string} printed
 * @returns {{ outcome: 'clean' } | { outcome: 'vulnerable' | 'skipped', why: string }}
 */
export function judgeAudit(printed) {
  let report;
  try {
    report = JSON.parse(printed);
  } catch {
    return { outcome: 'skipped', why: 'npm audit printed no report' };
  }
  const counts = report.metadata?.vulnerabilities;
  if (!counts) {
    const why = report.message ?? report.error?.summary ?? 'the registry gave no report';
    return { outcome: 'skipped', why: `the registry audits nothing: ${String(why).split('\n')[0]}` };
  }
  const found = Object.values(report.vulnerabilities ?? {}).filter(({ severity }) => LEVELS.includes(severity));
  const isClean = LEVELS.every((level) => !counts[level]) && found.length === 0;
  if (isClean) return { outcome: 'clean' };
  return {
    outcome: 'vulnerable',
    why: found.map(({ name, severity, range }) => `${name} ${range} (${severity})`).join(', '),
  };
}

/**
 * Runs `npm audit` on the locked production dependencies.
 * @param {string} directory
 */
export function auditDependencies(directory) {
  return new Promise((resolve) => {
    const npm = spawn('npm', ['audit', '--omit=dev', '--audit-level=high', '--json'], {
      cwd: directory,
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: LIMIT_MS,
    });
    let printed = '';
    npm.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
    npm.once('error', (error) => resolve({ outcome: 'skipped', why: `npm cannot be started: ${error.message}` }));
    npm.once('close', () => resolve(judgeAudit(printed)));
  });
}
