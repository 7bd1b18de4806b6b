import { describe, expect, it } from 'vitest';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { driveTasks } from '../support/drive-tasks.ts';
import { useApi } from '../support/use-api.ts';
import type { Reply } from '../../../support/call-api.ts';

const api = await useApi();

async function say(text: string, options: { key?: string; headers?: Record<string, string>; session?: string } = {}): Promise<Reply> {
  const { session = 'desk', ...more } = options;
  return await api.call('POST', `/v1/sessions/${session}/messages`, { body: { text }, ...more });
}

async function schedules(): Promise<{ id: string; number: number; status: string; message: string }[]> {
  return (await api.call('GET', '/v1/schedules')).body.items;
}

/** Of changes of schedules, newest first. */
const entries = async (): Promise<unknown[]> => (await api.call('GET', '/v1/audit?object=schedules/')).body.items;

describe('/schedule in a web chat', () => {
  it('creates a schedule at once, lists, pauses, resumes and cancels it', async () => {
    const made = await say('/schedule every monday at 09:00: summarise the week');
    expect([made.status, made.body.command]).toEqual([200, 'schedule']);
    expect(made.body.text).toMatch(/^Scheduled #1: At 09:00, only on Monday, next \d{4}-\d\d-\d\d 09:00 \(\S+\): summarise the week\.$/);
    expect((await say('/schedule list')).body.text).toMatch(/^#1: At 09:00/);
    expect((await say('/schedule pause 1')).body.text).toContain('Paused #1');
    expect(await schedules()).toMatchObject([{ number: 1, status: 'paused', message: 'summarise the week' }]);
    expect((await say('/schedule resume 1')).body.text).toContain('Resumed #1');
    expect((await say('/schedule cancel 1')).body.text).toContain('Canceled #1');
    expect(await schedules()).toEqual([]);
    expect((await say('/schedule')).body.text).toContain('This did not work: ');
    expect((await say('/help')).body.text).toContain('/schedule');
  });

  it('is an entry of the audit log on its schedule when it asks for a change, done or refused', async () => {
    const before = (await entries()).length;
    const made = await say('/schedule every monday at 09:00: water the plants');
    const number = /#(\d+)/.exec(made.body.text)?.[1] ?? '';
    for (const text of [`pause ${number}`, `resume ${number}`, `cancel ${number}`, `cancel ${number}`, 'list', 'nonsense']) {
      expect((await say(`/schedule ${text}`)).status).toBe(200);
    }
    const object = `schedules/${number}`;
    expect((await entries()).slice(0, -before || undefined).toReversed()).toMatchObject([
      { action: 'chatSchedule', object, outcome: 'done', via: 'chat', from: 'webchat', actionText: 'made a schedule in a chat' },
      { action: 'chatSchedulePause', object, outcome: 'done' },
      { action: 'chatScheduleResume', object, outcome: 'done' },
      { action: 'chatScheduleCancel', object, outcome: 'done' },
      { action: 'chatScheduleCancel', object, outcome: 'refused' },
    ]);
  });

  it('shows the answers of its runs in the session of the command', async () => {
    await say('/schedule every day: count the doors', { session: 'porch' });
    const [schedule] = await schedules();
    const run = (await api.call('POST', `/v1/schedules/${schedule?.id}/run`)).body.id as string;
    await driveTasks(api.parts).complete(run, 'Seven.');
    expect((await readTask(api.parts.ledger, 'default', run))?.body).toMatchObject({ session: 'porch', source: 'schedule', agent: 'echo' });
    const { body } = await api.call('GET', '/v1/sessions/porch/transcript');
    expect(body.items).toMatchObject([{ taskId: run, output: 'Seven.' }]);
  });

  it('creates one schedule for a message that is sent again', async () => {
    const headers = { 'idempotency-key': 'again' };
    const first = await say('/schedule in 3 hours: look once', { headers });
    expect((await say('/schedule in 3 hours: look once', { headers })).body).toEqual(first.body);
    expect((await schedules()).filter(({ message }) => message === 'look once')).toHaveLength(1);
  });

  it('is plain text from a visitor', async () => {
    const { body } = await api.call('POST', '/v1/sessions/desk/visitors', { body: {} });
    const before = (await schedules()).length;
    expect((await say('/schedule list', { key: body.token })).status).toBe(202);
    expect(await schedules()).toHaveLength(before);
  });
});
