import { afterAll, describe, expect, it } from 'vitest';
import type { AgentFunction } from '#shared/config/define-config.ts';
import { useWorker } from '../../../support/use-worker.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { environmentOf, PLATFORM_NAMES, type PlatformName } from '../running-chat.ts';
import { useChat, useFakePlatforms } from '../use-chat.ts';

const DEADLINE_MS = 20_000;
const HOUR_MS = 3_600_000;

interface Run {
  readonly input: string;
  finish: () => void;
  isAborted: boolean;
}

/** By session, oldest first. */
const runs = new Map<string, Run[]>();

/** Says half of its answer, and the rest when the test says so. */
const talk: AgentFunction = (task, { signal, write: say }) =>
  new Promise((resolve, reject) => {
    const run = { input: task.input, finish: () => resolve(`Answer to: ${task.input}`), isAborted: false };
    const session = task.session ?? '';
    runs.set(session, [...(runs.get(session) ?? []), run]);
    say(`Half of: ${task.input}`);
    signal.addEventListener('abort', () => {
      run.isAborted = true;
      reject(signal.reason as Error);
    });
  });

const fakes = await useFakePlatforms();
const chat = await useChat(environmentOf(fakes), {
  agents: { talk: { kind: 'function', run: talk } },
  routing: { agent: 'talk', queue: { mode: 'interrupt' } },
  chat: { interruptDebounceMs: 1200 },
  worker: { cancelGraceMs: 300 },
});
await useWorker(chat.parts);
afterAll(() => {
  for (const run of [...runs.values()].flat()) run.finish();
});

let messages = 0;

/** A private chat of one person. */
class PrivateChat {
  readonly name: PlatformName;
  readonly #chat: string;
  readonly #session: string;

  constructor(name: PlatformName, number: number) {
    this.name = name;
    this.#chat = name === 'slack' ? `D${number}` : String(number);
    this.#session = fakes[name].threadOf(this.#chat).replace(/:$/, '');
  }

  async write(text: string, agoMs = 0, number = (messages += 1)): Promise<void> {
    const request = fakes[this.name].personWrites({ text, number, chat: this.#chat, sentAt: Date.now() - agoMs });
    const { status } = await chat.post(this.name, request);
    if (status !== 200) throw new Error(`${this.name} got ${status}`);
  }

  get runs(): Run[] {
    return runs.get(this.#session) ?? [];
  }

  /** The run of this number, from 1. */
  async run(number: number): Promise<Run> {
    return await waitFor(() => this.runs[number - 1], { deadlineMs: DEADLINE_MS, what: `run ${number} on ${this.name}` });
  }

  get texts(): string[] {
    return fakes[this.name].shown.filter(({ chat: id }) => id === this.#chat).map(({ text }) => text);
  }

  async shows(text: string): Promise<void> {
    await waitFor(() => this.texts.includes(text), {
      deadlineMs: DEADLINE_MS,
      what: `"${text}" on ${this.name}, not ${this.texts.join(' | ')}`,
    });
  }
}

const onEach = async (number: number, check: (place: PrivateChat) => Promise<void>): Promise<void> => {
  await Promise.all(PLATFORM_NAMES.map((name) => check(new PrivateChat(name, number))));
};
const sixteen = Array.from({ length: 16 }, (_, index) => `late ${index + 1}`);

// All at once: each has chats of its own, and most of their time is the wait for further messages.
describe.concurrent('in mode interrupt, on each platform', () => {
  it('sixteen messages that come after an outage leave the run alone, and are one turn after it', async () => {
    await onEach(1, async (place) => {
      await place.write('long work');
      const first = await place.run(1);
      for (const [index, text] of sixteen.entries()) await place.write(text, HOUR_MS - index * 1000);
      expect([place.name, first.isAborted]).toEqual([place.name, false]);
      first.finish();
      const second = await place.run(2);
      expect([place.name, second.input]).toEqual([place.name, sixteen.join('\n\n')]);
      second.finish();
      await place.shows(`Answer to: ${sixteen.join('\n\n')}`);
      expect([place.name, place.runs.length]).toEqual([place.name, 2]);
    });
  });

  it('sixteen messages that come after an outage are one or two runs when none runs', async () => {
    await onEach(2, async (place) => {
      for (const [index, text] of sixteen.entries()) await place.write(text, HOUR_MS - index * 1000);
      const first = await place.run(1);
      first.finish();
      const rest = sixteen.length - first.input.split('\n\n').length;
      if (rest > 0) (await place.run(2)).finish();
      await place.shows(`Answer to: ${place.runs.at(-1)?.input}`);
      expect([place.name, place.runs.map(({ input }) => input).join('\n\n')]).toEqual([place.name, sixteen.join('\n\n')]);
      expect(place.runs.length).toBeLessThanOrEqual(2);
    });
  });

  it('messages that come the wrong way round are one turn in the order of their platform', async () => {
    await onEach(5, async (place) => {
      await place.write('second', 0, 9002);
      await place.write('first', 60_000, 9001);
      const run = await place.run(1);
      expect([place.name, run.input]).toEqual([place.name, 'first\n\nsecond']);
    });
  });

  it('two quick messages are one turn, and nothing says that it was interrupted', async () => {
    await onEach(3, async (place) => {
      await place.write('one');
      await place.write('and two');
      (await place.run(1)).finish();
      await place.shows('Answer to: one\n\nand two');
      expect([place.name, place.texts, place.runs.length]).toEqual([place.name, ['Answer to: one\n\nand two'], 1]);
    });
  });

  it('a message for what runs stops it, and its answer stands in the half one where messages can be edited', async () => {
    await onEach(4, async (place) => {
      const canEdit = place.name !== 'whatsapp';
      await place.write('one');
      const first = await place.run(1);
      if (canEdit) await place.shows('Half of: one');
      await place.write('another', -60_000);
      const second = await place.run(2);
      expect([place.name, first.isAborted]).toEqual([place.name, true]);
      if (canEdit) await place.shows('Half of: another');
      second.finish();
      await place.shows('Answer to: another');
      expect([place.name, place.texts]).toEqual([place.name, ['Answer to: another']]);
    });
  });
});
