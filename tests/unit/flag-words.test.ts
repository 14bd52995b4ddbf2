import { expect, it } from 'vitest';
import { describeFlag } from '../../app/dashboard/[integrationId]/sessions/flag-words';

it('a flag is shown in words; one that nobody has described is shown without dashes', () => {
  expect(describeFlag('webdriver')).toBe('Driven by automation (webdriver)');
  expect(describeFlag('no_such-flag')).toBe('no such flag');
});

it('a declared agent is shown by its name as it was given', () => {
  expect(describeFlag('declared-agent:claude-for-chrome')).toBe('Declared agent: claude-for-chrome');
});
