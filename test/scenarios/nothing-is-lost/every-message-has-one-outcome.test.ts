import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { wait } from '#shared/time/wait.ts';
import { startFakeTelegram, type FakeTelegram } from '../../support/chat/fake-telegram.ts';
import { reportFigure } from '../../support/fleet/figures.ts';
import { findOverlaps } from '../../support/fleet/journal.ts';
import type { ServiceProcess, ServiceName } from '../../support/fleet/service-process.ts';
import { openFleet, type Fleet } from '../../support/fleet/open-fleet.ts';
import { skewedClockEnvironment } from '../../support/fleet/skewed-clock.ts';
import { repeatUntilStopped } from '../../support/fleet/repeat-until-stopped.ts';
import { testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

const FULL = { chats: 1000, turns: 20, killEveryMs: 3000, poisonEveryMs: 20_000, endMs: 1_500_000 };
const SMALL = { chats: 12, turns: 6, killEveryMs: 10, poisonEveryMs: 60_000, endMs: 90_000 };
const SIZE = testEnvironment.isChaos ? FULL : SMALL;
const { chats: CHATS, turns: TURNS, killEveryMs: KILL_EVERY_MS, endMs: END_MS } = SIZE;
/** Tasks that do this to their process run among the messages. */
const POISONS = ['exit', 'kill', 'block', 'memory'] as const;
/** How far the clocks of the workers are from Redis's, in turn. */
const SKEWS_MS = [0, 300_000, -300_000];
/** Chats whose people write at the same time; each waits until the platform took its message. */
const WRITING_AT_ONCE = 50;
/** A platform sends an update again until somebody takes it. */
const RESEND_MS = 50;
const SEND_MS = 60_000;

let fleet: Fleet;
let telegram: FakeTelegram;

beforeEach(async () => {
  telegram = await startFakeTelegram();
  fleet = await openFleet({
    settings: {
      agents: {
        poison: { kind: 'function', file: new URL('../fixtures/poison-agent.ts', import.meta.url).pathname },
        answer: { kind: 'function', file: new URL('../../support/fleet/chat-agent.ts', import.meta.url).pathname },
      },
      routing: { agent: 'answer', queue: { bySurface: { telegram: 'queue' } } },
      worker: { leaseMs: 3000 },
    },
    env: { ...telegram.env, SHUTDOWN_GRACE_MS: '1000', MUSTER_QUEUES: 'chat=20,tasks=2,maintenance=1' },
  });
  await fleet.start('api');
});
afterEach(async () => {
  await fleet.stop();
  await telegram.close();
});

const textOf = (chat: number, turn: number): string => `turn ${turn} of chat ${chat}`;
const sessionOf = (chat: number): string => `telegram:${chat}`;

/** Sends an update as Telegram does: to whichever address answers, again and again until one takes it. */
async function deliver(chats: readonly ServiceProcess[], chat: number, turn: number): Promise<void> {
  const { body, headers } = telegram.personWrites({ text: textOf(chat, turn), number: turn, chat: String(chat) });
  const deadline = Date.now() + SEND_MS;
  let last = 'no answer';
  for (let tries = chat + turn; Date.now() < deadline; tries += 1) {
    const url = chats[tries % chats.length]?.url ?? '';
    const response = await fetch(`${url}/chat/telegram`, { method: 'POST', body, headers }).catch((error: unknown) => String(error));
    if (typeof response !== 'string' && response.status === 200) return;
    last = typeof response === 'string' ? response : `${response.status} ${await response.text()}`;
    await wait(RESEND_MS);
  }
  throw new Error(`nobody took turn ${turn} of chat ${chat}; the last answer was ${last}`);
}

/** The tasks of a session, oldest first. */
async function tasksOf(chat: number): Promise<{ input: string; status: string; outcome: { kind: string } | null }[]> {
  const { body } = await fleet.client.call('GET', `/v1/tasks?session=${encodeURIComponent(sessionOf(chat))}&limit=100`);
  return body.items.toReversed();
}

async function hasNothingOpen(): Promise<boolean> {
  const open = await Promise.all(
    ['pending', 'queued', 'scheduled', 'running', 'failed', 'timeout'].map(async (status) => {
      const { body } = await fleet.client.call('GET', `/v1/tasks?status=${status}&limit=1`);
      return body.items.length > 0;
    }),
  );
  return !open.includes(true);
}

async function forEachChat(work: (chat: number) => Promise<void>): Promise<void> {
  const chats = Array.from({ length: CHATS }, (_, index) => 4001 + index);
  const next = async (): Promise<void> => {
    for (let chat = chats.shift(); chat !== undefined; chat = chats.shift()) await work(chat);
  };
  await Promise.all(Array.from({ length: WRITING_AT_ONCE }, next));
}

describe('every message has one outcome', () => {
  it('over two chat processes and four workers that are killed all the time: none lost, none twice at once, all in order', async () => {
    let startedProcesses = 0;
    const started = async (service: ServiceName): Promise<ServiceProcess> => {
      const skew = service === 'worker' ? skewedClockEnvironment(SKEWS_MS[startedProcesses % SKEWS_MS.length] ?? 0) : {};
      const heap = service === 'worker' ? { NODE_OPTIONS: `${skew['NODE_OPTIONS'] ?? ''} --max-old-space-size=250` } : {};
      startedProcesses += 1;
      return await fleet.start(service, heap);
    };
    const chats = await Promise.all([started('chat'), started('chat')]);
    const workers = await Promise.all(Array.from({ length: 4 }, () => started('worker')));
    let kills = 0;
    const chaos = repeatUntilStopped(async () => {
      const [group, service] = kills % 3 === 0 ? ([chats, 'chat'] as const) : ([workers, 'worker'] as const);
      const victim = kills % group.length;
      await group[victim]?.kill();
      group[victim] = await started(service);
      kills += 1;
    }, KILL_EVERY_MS);
    const poisoned: string[] = [];
    const poisoning = repeatUntilStopped(async () => {
      const poison = POISONS[poisoned.length % POISONS.length];
      const sent = { agent: 'poison', context: { poison }, execution: { maxAttempts: 100, retryDelayMs: 100 } };
      poisoned.push(await fleet.client.submit(sent));
    }, SIZE.poisonEveryMs);
    const startedAt = Date.now();
    await forEachChat(async (chat) => {
      for (let turn = 1; turn <= TURNS; turn += 1) {
        await deliver(chats, chat, turn);
        // What was taken and comes again changes nothing.
        if (turn % 5 === 0) await deliver(chats, chat, turn);
      }
    });
    const acceptedIn = Date.now() - startedAt;
    await waitFor(() => kills > 1, { deadlineMs: END_MS, what: 'several processes to be killed' });
    await Promise.all([chaos.stop(), poisoning.stop()]);

    const turns = Array.from({ length: TURNS }, (_, index) => index + 1);
    const lost: string[] = [];
    await waitFor(hasNothingOpen, {
      deadlineMs: END_MS,
      everyMs: 500,
      what: 'every message to come to its end',
    });
    await forEachChat(async (chat) => {
      const tasks = await tasksOf(chat);
      const ended = tasks.filter(({ status, outcome }) => status === 'completed' && outcome?.kind === 'ran').map(({ input }) => input);
      if (ended.join() !== turns.map((turn) => textOf(chat, turn)).join()) lost.push(`${sessionOf(chat)}: ${JSON.stringify(tasks)}`);
    });
    expect(lost).toEqual([]);

    const journal = fleet.journal();
    const ofChats = journal.filter(({ session }) => session !== null);
    // A loop, and memory that runs out, keep everything else of the process from running until its end.
    const blocked = new Set(journal.filter(({ task }) => poisoned.includes(task)).map(({ pid }) => pid));
    expect(findOverlaps(journal, blocked)).toEqual([]);
    const guilty = await Promise.all(poisoned.map((id) => fleet.client.task(id)));
    expect(guilty.map(({ status, error }) => [status, error?.code])).toEqual(poisoned.map(() => ['permanently_failed', 'WORKER_LOST']));
    const order = new Map<string, Set<string>>();
    for (const { event, session, input } of ofChats) {
      if (event === 'start') order.set(session ?? '', (order.get(session ?? '') ?? new Set()).add(input));
    }
    const breaks = [...order].filter(
      ([session, inputs]) => [...inputs].join() !== turns.map((turn) => textOf(Number(session.split(':')[1]), turn)).join(),
    );
    expect(breaks).toEqual([]);

    const missing = (): string[] => {
      const shown = new Set(telegram.shown.map(({ text }) => text));
      const all = Array.from({ length: CHATS }, (_, index) => turns.map((turn) => `answer to ${textOf(4001 + index, turn)}`)).flat();
      return all.filter((text) => !shown.has(text));
    };
    await waitFor(() => missing().length === 0, { deadlineMs: END_MS, everyMs: 500, what: 'every answer to be shown' }).catch(
      () => undefined,
    );
    expect(missing()).toEqual([]);
    expect(kills).toBeGreaterThan(1);
    const runs = journal.filter(({ event }) => event === 'start').length;
    const answers = telegram.shown.filter(({ text }) => text.startsWith('answer to')).length;
    reportFigure(
      `${CHATS} chats, ${CHATS * TURNS} messages`,
      `${kills} processes killed, ${poisoned.length} poisonous tasks, ${runs} runs, ${answers} answers shown, taken in ${(acceptedIn / 1000).toFixed(0)} s, done in ${((Date.now() - startedAt) / 1000).toFixed(0)} s`,
    );
  });
});
