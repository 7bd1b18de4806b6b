import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { readDelivery } from '#shared/deliveries/delivery-store.ts';
import { useWorker } from '../../support/use-worker.ts';
import { waitFor } from '../../support/wait-for.ts';
import { environmentOf, PLATFORM_NAMES, type PlatformName } from './running-chat.ts';
import { useChat, useFakePlatforms } from './use-chat.ts';

const DEADLINE_MS = 15_000;

/** By input: ends what the agent says. */
const running = new Map<string, { finish: (text: string) => void; isAborted: boolean }>();

/** Says a first word at once, and the rest when the test says so. Texts that begin with "echo " come back. */
const talk: AgentFunction = (task, { signal, write: say }) => {
  if (task.input.startsWith('echo ')) return Promise.resolve(task.input.slice(5));
  return new Promise((resolve, reject) => {
    const run = { finish: (text: string) => resolve(`First, ${text}`), isAborted: false };
    running.set(task.input, run);
    say('First, ');
    signal.addEventListener('abort', () => {
      run.isAborted = true;
      reject(signal.reason as Error);
    });
  });
};

const fakes = await useFakePlatforms();
const chat = await useChat(environmentOf(fakes), {
  agents: { talk: { kind: 'function', run: talk } },
  routing: { agent: 'talk' },
  worker: { leaseMs: 1000, orphanCheckIntervalMs: 100, cancelGraceMs: 300 },
  deliveries: { firstRetryMs: 50, sweepMs: 200 },
});
await useWorker(chat.parts);
beforeEach(() => {
  for (const fake of Object.values(fakes)) {
    fake.shown.length = 0;
    fake.typings = 0;
  }
});
afterEach(() => {
  for (const { finish } of running.values()) finish('end.');
  running.clear();
});

let messages = 0;

/** A person writes in a private chat of their own, so that tests do not meet in one. */
async function write(name: PlatformName, chatId: string, text: string): Promise<void> {
  messages += 1;
  const response = await chat.post(name, fakes[name].personWrites({ text, number: messages, chat: chatId }));
  expect(response.status).toBe(200);
}

const chatOf = (name: PlatformName, number: number): string => (name === 'slack' ? `D${number}` : String(number));
/** What stands in one chat now. */
const textsIn = (name: PlatformName, number: number): string[] =>
  fakes[name].shown.filter(({ chat: id }) => id === chatOf(name, number)).map(({ text }) => text);
const runOf = async (input: string): Promise<{ finish: (text: string) => void; isAborted: boolean }> =>
  await waitFor(() => running.get(input), { deadlineMs: DEADLINE_MS, what: `${input} to run` });

/** All platforms at once: each is on its own, and together they take no longer than one. */
const onEach = async (check: (name: PlatformName) => Promise<void>): Promise<void> => {
  await Promise.all(PLATFORM_NAMES.map(check));
};

describe('on each platform', () => {
  it('an answer comes while it is written, and ends complete', async () => {
    await onEach(async (name) => {
      const input = `question on ${name}`;
      await write(name, chatOf(name, 1), input);
      const run = await runOf(input);
      // A private chat of Slack has no sign that somebody types.
      if (name !== 'slack') await waitFor(() => fakes[name].typings > 0, { deadlineMs: DEADLINE_MS, what: `typing on ${name}` });
      const canEdit = name !== 'whatsapp';
      if (canEdit) await shows(name, 1, (texts) => texts.join('').includes('First'));
      run.finish('and last.');
      await shows(name, 1, (texts) => texts.at(-1) === 'First, and last.');
      expect([name, textsIn(name, 1)]).toEqual([name, ['First, and last.']]);
      expect([name, fakes[name].shown.find(({ chat: id }) => id === chatOf(name, 1))?.edits]).toEqual([name, canEdit ? 1 : 0]);
    });
  });

  it('an answer longer than one message comes complete, in order', async () => {
    const words = Array.from({ length: 3500 }, (_, index) => `word${index}`);
    await onEach(async (name) => {
      await write(name, chatOf(name, 2), `echo ${words.join(' ')}`);
      await shows(name, 2, (texts) => texts.at(-1)?.endsWith('word3499') === true);
      expect(textsIn(name, 2).length).toBeGreaterThan(1);
      expect(textsIn(name, 2).join(' ').split(/\s+/)).toEqual(words);
    });
  });

  it('an answer is not lost to a platform that wants to be left alone, or is broken', async () => {
    await onEach(async (name) => {
      fakes[name].refuseNext('throttled', 'broken');
      await write(name, chatOf(name, 3), 'echo It got through.');
      await shows(name, 3, (texts) => texts.includes('It got through.'));
      expect([name, textsIn(name, 3)]).toEqual([name, ['It got through.']]);
    });
  });

  it('an answer to a chat that is gone is given up, and the next message is answered', async () => {
    await onEach(async (name) => {
      fakes[name].refuseNext('gone');
      await write(name, chatOf(name, 4), 'echo Nobody reads this.');
      const [task] = await waitFor(
        async () => (await chat.tasks()).filter(({ body }) => body.input === 'echo Nobody reads this.' && body.reply?.platform === name),
        {
          deadlineMs: DEADLINE_MS,
          what: 'the task',
        },
      );
      await waitFor(async () => (await statusOf(task?.body.id)) === 'failed', {
        deadlineMs: DEADLINE_MS,
        what: `the delivery on ${name} to fail`,
      });
      await write(name, chatOf(name, 4), 'echo Back again.');
      await shows(name, 4, (texts) => texts.includes('Back again.'));
      expect([name, textsIn(name, 4)]).toEqual([name, ['Back again.']]);
    });
  });

  it('a message makes no task while its tenant is disabled, and says so', async () => {
    const { tenants } = chat.parts;
    const own = tenants.get('default');
    if (own === null) throw new Error('expected the tenant');
    await tenants.save({ ...own, disabled: true });
    await onEach(async (name) => {
      await write(name, chatOf(name, 7), 'echo Nobody is there.');
      await shows(name, 7, (texts) => texts.some((text) => text.includes('is disabled')));
    });
    expect((await chat.tasks()).filter(({ body }) => body.input === 'echo Nobody is there.')).toEqual([]);
    await tenants.save(own);
  });

  it('/stop reaches the run in front of it', async () => {
    await onEach(async (name) => {
      const input = `long work on ${name}`;
      await write(name, chatOf(name, 5), input);
      const run = await runOf(input);
      await write(name, chatOf(name, 5), '/stop');
      await shows(name, 5, (texts) => texts.some((text) => text.includes('stopping the running task')));
      await waitFor(() => run.isAborted, { deadlineMs: DEADLINE_MS, what: `the abort on ${name}` });
      expect(textsIn(name, 5)).not.toContain('First, end.');
    });
  });

  it('/queue interrupt makes the next message take the place of the one that runs', async () => {
    await onEach(async (name) => {
      const [before, after] = [`before on ${name}`, `after on ${name}`];
      await write(name, chatOf(name, 6), '/queue interrupt');
      await write(name, chatOf(name, 6), before);
      const first = await runOf(before);
      await write(name, chatOf(name, 6), after);
      const second = await runOf(after);
      expect(first.isAborted).toBe(true);
      second.finish('the newest.');
      await shows(name, 6, (texts) => texts.includes('First, the newest.'));
    });
  });
});

async function shows(name: PlatformName, number: number, check: (texts: string[]) => boolean): Promise<void> {
  await waitFor(() => check(textsIn(name, number)), { deadlineMs: DEADLINE_MS, what: `${name} to show it` });
}

async function statusOf(task = ''): Promise<string | undefined> {
  return (await readDelivery(chat.parts.ledger, 'default', `${task}-reply`))?.delivery.status;
}
