import { describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { runScheduleNow } from '#shared/schedules/changes/change-schedule.ts';
import { openScheduleParts } from '#shared/schedules/schedule-parts.ts';
import { closeAfterTests } from '../../support/close-after-tests.ts';
import { startFakeTelegram } from '../../support/chat/fake-telegram.ts';
import { useWorker } from '../../support/use-worker.ts';
import { waitFor } from '../../support/wait-for.ts';
import { useChat } from './use-chat.ts';

const agent: AgentFunction = (task) => Promise.resolve(task.source === 'schedule' ? `This is about: ${task.input}` : task.input);

const telegram = closeAfterTests(await startFakeTelegram());
const chat = await useChat(telegram.env, {
  agents: { helper: { kind: 'function', run: agent } },
  routing: { agent: 'helper' },
  deliveries: { firstRetryMs: 50, sweepMs: 200 },
});
await useWorker(chat.parts);

let messages = 0;

async function write(text: string): Promise<void> {
  messages += 1;
  expect((await chat.post('telegram', telegram.personWrites({ text, number: messages, chat: '7' }))).status).toBe(200);
}

async function shows(text: string): Promise<string> {
  const found = (): string | undefined => telegram.shown.find((each) => each.chat === '7' && each.text.includes(text))?.text;
  return await waitFor(found, { deadlineMs: 8000, what: `"${text}" in ${JSON.stringify(telegram.shown)}` });
}

describe('/schedule in a chat', () => {
  it('is answered there, and so is each of its runs', async () => {
    await write('/schedule every day at 08:00: the weather');
    expect(await shows('Scheduled #1')).toMatch(/^Scheduled #1: At 08:00, every day, next .*: the weather\.$/);
    await runScheduleNow(openScheduleParts(chat.parts), 'default', '1');
    expect(await shows('This is about')).toBe('This is about: the weather');
    await write('/schedule cancel 1');
    await shows('Canceled #1');
  });

  it('runs as well when the agent writes it, for the chat that it answers', async () => {
    await write('Of course.\n/schedule in 2 hours: the oven');
    expect(await shows('Of course.')).toContain('OK: scheduled #2');
    await runScheduleNow(openScheduleParts(chat.parts), 'default', '2');
    expect(await shows('the oven')).toContain('the oven');
    expect(await shows('This is about: the oven')).toBe('This is about: the oven');
  });
});
