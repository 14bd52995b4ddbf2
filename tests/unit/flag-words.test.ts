import { expect, it } from 'vitest';
import { describeFlag } from '../../app/dashboard/[integrationId]/sessions/flag-words';
import { RULES } from '../../server/detection/rules/table';

it('the flag of every rule has words', () => {
  const flags = RULES.map(({ rule }) => rule.flag);
  expect(flags.filter((flag) => describeFlag(flag) === flag.replaceAll('-', ' '))).toEqual([]);
  expect(describeFlag('webdriver')).toBe('Driven by automation (webdriver)');
});

it('a flag that nobody has described is shown without dashes', () => {
  expect(describeFlag('no_such-flag')).toBe('no such flag');
});

it('a declared agent is shown by its name as it was given', () => {
  expect(describeFlag('declared-agent:claude-for-chrome')).toBe('Declared agent: claude-for-chrome');
});
