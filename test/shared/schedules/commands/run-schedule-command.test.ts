import { expect, it } from 'vitest';
import { formatCommandResult } from '#shared/schedules/commands/command-result.ts';
import { applyScheduleCommand, type ScheduleCommandCall } from '#shared/schedules/commands/run-schedule-command.ts';
import { listSchedules } from '#shared/schedules/store/list-schedules.ts';
import { MINUTE, TENANT } from '../test-schedules.ts';
import { useSchedules } from '../use-schedules.ts';

const t = await useSchedules();

/** Numbers of all schedules, newest first. */
const numbers = async (): Promise<number[]> => {
  const { items } = await listSchedules(t.parts, TENANT, {}, { limit: 10, before: null });
  return items.map(({ number }) => number);
};

const run = async (text: string, call: Partial<ScheduleCommandCall> = {}): Promise<string> => {
  const { directive, result } = await applyScheduleCommand(t.parts, { tenant: TENANT, agent: 'echo', text, tz: 'UTC', ...call });
  return formatCommandResult(directive, result);
};

it('creates a schedule for the agent, whose results go to the place of the command', async () => {
  const reply = { platform: 'slack', thread: '{"id":"C1:1.2"}' };
  const answer = await run('/schedule in 30 minutes: review the deploy', { agent: 'other', reply, user: 'U1' });
  const at = new Date(t.clock.now + 30 * MINUTE).toISOString().slice(0, 16).replace('T', ' ');
  expect(answer).toContain(`OK: scheduled #1 in 30 minutes (${at}`);
  expect(answer).toMatch(/→ other\n {2}message: review the deploy\n.*\[END SCHEDULE\]$/s);
  const schedule = await t.parts.store.find(TENANT, '1');
  t.clock.now += 30 * MINUTE;
  await t.fire();
  expect((await t.runs(schedule!))[0]?.body).toMatchObject({ agent: 'other', input: 'review the deploy', reply, user: 'U1' });
});

it('lists, pauses, resumes and cancels by number', async () => {
  await run('/schedule every monday at 09:00: summarise');
  expect(await run('/schedule list')).toMatch(/OK: 1 schedule\n {2}#1 active 0 9 \* \* 1/);
  expect(await run('pause 1')).toContain('OK: paused #1');
  expect((await t.parts.store.find(TENANT, '1'))?.status).toBe('paused');
  expect(await run('/schedule resume 1')).toContain('OK: resumed #1');
  expect(await run('/schedule cancel 1')).toContain('OK: canceled #1');
  expect(await run('/schedule cancel 1')).toContain('ERR: there is no schedule #1');
  expect(await run('/schedule list')).toContain('OK: no schedules');
});

it('explains an unreadable command with the accepted forms, and creates nothing', async () => {
  expect(await run('/schedule now and then: do it')).toMatch(/ERR: "now and then" is no rule[\s\S]*\n {2}every/);
  expect(await run('/schedule in 5 minutes: do it', { agent: 'nobody' })).toContain('ERR: There is no agent "nobody"');
  expect(await run('/schedule nonsense')).toContain('ERR: ');
  expect(await numbers()).toEqual([]);
});

it('creates one schedule under one key, and reaches no other tenant', async () => {
  const call = { key: 'writ:1:0' };
  await Promise.all([1, 2, 3].map(async () => await run('/schedule in 5 minutes: do it', call)));
  expect(await numbers()).toEqual([1]);
  expect(await run('/schedule cancel 1', { tenant: 'acme' })).toContain('ERR: there is no schedule #1');
});
