import { expect, it } from 'vitest';
import { timesInARow } from '../../../../../../services/dashboard/console/parts/text/times-in-a-row.ts';

const failed = (message: string): { error: { code: string; message: string } } => ({ error: { code: 'AGENT_ERROR', message } });
const fine = { error: null };

it.each([
  ['the same failure', [failed('no'), failed('no'), failed('no')], [0, 0, 3]],
  ['different failures', [failed('no'), failed('never')], [1, 1]],
  ['a success at the end', [failed('no'), failed('no'), fine], [0, 2, 1]],
])('says %s once, with how often it came in a row', (_case, attempts, times) => {
  expect(attempts.map((_attempt, at) => timesInARow(attempts, at))).toEqual(times);
});
