import { expect, it } from 'vitest';
import { EMPTY_RULE, toRule } from '../../app/dashboard/[integrationId]/alerts/rule-draft';
import { UNITS } from '../../app/dashboard/[integrationId]/alerts/rule-words';

it('a time that is typed with a decimal is the whole minutes that it means', () => {
  for (const unit of ['hours', 'days'] as const)
    for (let tenths = 1; tenths < 240; tenths++) {
      const time = { text: String(tenths / 10), unit };
      const { windowMinutes, coolDownMinutes } = toRule({ ...EMPTY_RULE, window: time, coolDown: time });
      const minutes = (tenths * UNITS[unit]) / 10;
      expect([time.text, unit, windowMinutes, coolDownMinutes]).toEqual([time.text, unit, minutes, minutes]);
    }
});

it('a time that is no whole number of minutes is sent as it was typed, so that the server says so', () => {
  const { windowMinutes } = toRule({ ...EMPTY_RULE, window: { text: '0.33', unit: 'hours' } });
  expect(windowMinutes).toBe(19.8);
});
