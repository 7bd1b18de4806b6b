import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/agent-function.ts';
import type { Service } from '#shared/lifecycle/service.ts';
import { runScheduleNow } from '#shared/schedules/run-schedule-now.ts';
import { openScheduleParts } from '#shared/schedules/schedule-parts.ts';
import { createWorkerService } from '../../../services/worker/create-worker-service.ts';
import { startFakeTelegram, type FakeTelegram } from '../../support/fake-telegram.ts';
import { startRedis, type RedisServer } from '../../support/redis-server.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startChat, type RunningChat } from './running-chat.ts';

let redis: RedisServer;
let telegram: FakeTelegram;
let chat: RunningChat;
let worker: Service;

const agent: AgentFunction = (task) => Promise.resolve(task.source === 'schedule' ? `This is about: ${task.input}` : task.input);

beforeAll(async () => {
  redis = await startRedis();
  telegram = await startFakeTelegram();
  chat = await startChat(redis.url, telegram.env, {
    agents: { helper: { kind: 'function', run: agent } },
    routing: { agent: 'helper' },
    deliveries: { firstRetryMs: 50, sweepMs: 200 },
  });
  worker = createWorkerService(chat.parts);
  await worker.start();
});
afterAll(async () => {
  await worker.stop(1000);
  await chat.close();
  await telegram.close();
  await redis.stop();
});

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
    expect(await shows('OK: scheduled #1')).toContain('helper');
    await runScheduleNow(openScheduleParts(chat.parts), 'default', '1');
    expect(await shows('This is about')).toBe('This is about: the weather');
    await write('/schedule cancel 1');
    await shows('OK: canceled #1');
  });

  it('is carried out as well when the agent writes it, for the chat that it answers', async () => {
    await write('Of course.\n/schedule in 2 hours: the oven');
    expect(await shows('Of course.')).toContain('OK: scheduled #2');
    await runScheduleNow(openScheduleParts(chat.parts), 'default', '2');
    expect(await shows('the oven')).toContain('the oven');
    expect(await shows('This is about: the oven')).toBe('This is about: the oven');
  });
});
