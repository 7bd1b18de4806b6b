import { describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { handleMessage } from '#shared/sessions/handle-message.ts';
import { runScheduleNow } from '#shared/schedules/changes/change-schedule.ts';
import { scheduleCommands } from '#shared/schedules/commands/chat-command.ts';
import { openScheduleParts } from '#shared/schedules/schedule-parts.ts';
import { useWorker } from '../../support/use-worker.ts';
import { waitFor } from '../../support/wait-for.ts';
import { environmentOf, PLATFORM_NAMES } from './running-chat.ts';
import { useChat, useFakePlatforms } from './use-chat.ts';

/** A report, and what a person calls long, work until they are stopped. */
const agent: AgentFunction = async (task, { signal }) => {
  if (/report|long/.test(task.input))
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));
  return `Answer to ${task.input}`;
};

const fakes = await useFakePlatforms();
const chat = await useChat(environmentOf(fakes), {
  agents: { helper: { kind: 'function', run: agent } },
  routing: { agent: 'helper' },
  deliveries: { firstRetryMs: 50, sweepMs: 200 },
});
await useWorker(chat.parts);
const scheduling = openScheduleParts(chat.parts);

interface Surface {
  name: string;
  /** Writes a text as a person, and returns the answer to a command once it is there. */
  command: (text: string, answer: RegExp) => Promise<string>;
  write: (text: string) => Promise<void>;
}

function platform(name: (typeof PLATFORM_NAMES)[number]): Surface {
  const fake = fakes[name];
  let number = 0;
  const write = async (text: string): Promise<void> => {
    number += 1;
    expect((await chat.post(name, fake.personWrites({ text, number }))).status).toBe(200);
  };
  return {
    name,
    write,
    command: async (text, answer) => {
      await write(text);
      const found = (): string | undefined => fake.shown.findLast((each) => answer.test(each.text))?.text;
      return await waitFor(found, { deadlineMs: 8000, what: `${answer.source} in ${JSON.stringify(fake.shown)}` });
    },
  };
}

function session(name: string): Surface {
  const parts = { ...chat.parts, commands: scheduleCommands(scheduling) };
  const say = (text: string): ReturnType<typeof handleMessage> =>
    handleMessage(parts, { tenant: 'default', session: `of-${name}`, text, surface: name, user: 'ada' });
  return {
    name,
    write: async (text) => void (await say(text)),
    command: async (text, answer) => {
      const given = await say(text);
      expect(given).toMatchObject({ kind: 'command', text: expect.stringMatching(answer) });
      return given.kind === 'command' ? given.text : '';
    },
  };
}

const SURFACES: Surface[] = [...PLATFORM_NAMES.map((name) => platform(name)), session('webchat'), session('api')];

async function statusOf(input: string): Promise<string> {
  return (await chat.tasks()).find(({ body }) => body.input === input)?.state.status ?? 'none';
}

async function becomes(input: string, status: string): Promise<void> {
  await waitFor(async () => (await statusOf(input)) === status, { deadlineMs: 8000, what: `"${input}" to be ${status}` });
}

describe.each(SURFACES)('a run of a schedule on $name', ({ name, command, write }) => {
  const report = `the ${name} report`;
  const long = `a long ${name} talk`;

  it('goes on beside what people write, is shown by /status, and stopped by /stop', async () => {
    const made = await command(`/schedule every day at 08:00: ${report}`, /^Scheduled #\d+/);
    const number = /#(\d+)/.exec(made)?.[1] ?? '';
    await command('/queue interrupt', /^Mode: interrupt/);
    await runScheduleNow(scheduling, 'default', number);
    await becomes(report, 'running');
    await write(`hello ${name}`);
    await becomes(`hello ${name}`, 'completed');
    await write(long);
    await becomes(long, 'running');
    expect(await statusOf(report)).toBe('running');
    const status = await command('/status', /has run for/);
    expect(status).toMatch(new RegExp(`^"${long}" has run for .*\nNothing waits\\.\nOf a schedule: "${report}" has run for`));
    const stopped = await command('/stop', /topping/);
    expect(stopped).toBe(`Nothing waited; stopping 2 running tasks.\nOf these a run of a schedule: "${report}".`);
    await Promise.all([becomes(long, 'cancelled'), becomes(report, 'cancelled')]);
    await command(`/schedule pause ${number}`, /^Paused/);
    expect(await command('/schedule list', /\(paused\)/)).toMatch(
      new RegExp(`^#${number}: At 08:00, every day \\([A-Z].*\\): ${report} \\(paused\\)`),
    );
  });
});
