import { afterEach, describe, expect, it } from 'vitest';
import { parseKnownState } from '#shared/ledger/codec/state.ts';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { putDelivery, readDelivery } from '#shared/deliveries/delivery-store.ts';
import { SUSPENDED_GATES } from '#shared/errors/gates.ts';
import { type HoldNotice, holdTask } from '#shared/ledger/grants/hold-task.ts';
import { releaseHeld } from '#shared/ledger/grants/release-held.ts';
import { readTask } from '#shared/ledger/read/read-tasks.ts';
import { settleAttempt } from '#shared/ledger/settle/settle-attempt.ts';
import type { AttemptRef } from '#shared/ledger/claim/leases.ts';
import type { AcceptRequest } from '#shared/queue/accept/request.ts';
import { cancelTree } from '#shared/queue/tickets/cancel-tree.ts';
import { retryTask } from '#shared/queue/tickets/change-waiting-task.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { DeliveryFleet, TENANT } from '../delivery-fleet.ts';
import { storedState } from '../../ledger/support/stored-states.ts';

let fleet: DeliveryFleet;

const open = async (settings: SettingsInput = {}): Promise<DeliveryFleet> => {
  fleet = await DeliveryFleet.open(settings);
  return fleet;
};

afterEach(async () => {
  await fleet.close();
});

/** Two messages of one session. */
const both = async (): Promise<[string, string]> => [await fleet.offered({ session: 's' }), await fleet.offered({ session: 's' })];

const FAILED = { kind: 'failed', error: { code: 'NETWORK_ERROR', message: 'cut', retryable: true }, delayMs: 0, usage: null } as const;

/** Ends a run as its worker does that obeys the stop of a newer message. */
const endInterrupted = async (attempt: AttemptRef): Promise<void> => {
  await settleAttempt(fleet.parts.ledger, attempt, { kind: 'cancelled', reason: 'a newer message took its place' });
};

describe('a reply', () => {
  it('shows that somebody is at it from acceptance on, streams the answer by edits, and ends complete', async () => {
    const { port, drive } = await open();
    fleet.start();
    const id = await fleet.offered();
    await waitFor(() => port.count('typing') > 1, { deadlineMs: 5000, what: 'signs of typing' });
    const attempt = await drive.start(id);
    await drive.write(attempt, 1, 1, 'Hel');
    await fleet.shows(['Hel']);
    await drive.write(attempt, 1, 2, 'lo the');
    await fleet.shows(['Hello the']);
    await drive.end(attempt, 'Hello there.');
    const delivery = await fleet.becomes(id, 'delivered');
    expect(port.texts()).toEqual(['Hello there.']);
    expect(port.count('post')).toBe(1);
    expect(delivery).toMatchObject({ platform: 'fake', kind: 'reply', attempts: 0, error: null, nextTryAt: null });
    expect(delivery.parts).toEqual([{ index: 0, messageId: 'm1', digest: expect.any(String), isFinal: true }]);
    expect(delivery.deliveredAt).toBeGreaterThanOrEqual(delivery.createdAt);
  });

  it('is sent when nobody began it before its task ended', async () => {
    const { drive } = await open();
    const id = await fleet.message();
    await drive.complete(id, 'Late but here');
    fleet.start();
    await fleet.becomes(id, 'delivered');
    expect(fleet.port.texts()).toEqual(['Late but here']);
  });

  it('removes the end of a task from the set of ends once it has its delivery', async () => {
    const { drive, parts } = await open();
    const id = await fleet.message();
    await drive.complete(id, 'done');
    const { ended, deliveriesDue } = parts.keys.shard(0);
    expect(await parts.redis.zcard(ended)).toBe(1);
    fleet.start();
    await fleet.becomes(id, 'delivered');
    await waitFor(async () => (await parts.redis.zcard(ended)) === 0, { deadlineMs: 5000, what: 'the end to be forgotten' });
    expect(await parts.redis.zcard(deliveriesDue)).toBe(0);
  });

  it('opens further messages as the answer grows, and has all of it at the end', async () => {
    const { port, drive } = await open();
    port.maxCharacters = 40;
    fleet.start();
    const id = await fleet.offered();
    const attempt = await drive.start(id);
    const words = Array.from({ length: 30 }, (_, n) => `word${n}`).join(' ');
    await drive.write(attempt, 1, 1, words.slice(0, 100));
    await waitFor(() => port.texts().length >= 3, { deadlineMs: 5000, what: 'three messages' });
    await drive.end(attempt, words);
    await fleet.becomes(id, 'delivered');
    expect(port.texts().join(' ')).toBe(words);
    expect(port.texts().filter((text) => text.length > 40)).toEqual([]);
    expect(port.count('post')).toBe(port.texts().length);
  });

  it('is only the final text where messages cannot be edited', async () => {
    const { port, drive } = await open();
    port.minEditMs = null;
    fleet.start();
    const id = await fleet.offered();
    const attempt = await drive.start(id);
    await drive.write(attempt, 1, 1, 'par');
    await waitFor(() => port.count('typing') > 2, { deadlineMs: 5000, what: 'signs of typing' });
    expect(port.texts()).toEqual([]);
    await drive.end(attempt, 'partial no more');
    await fleet.becomes(id, 'delivered');
    expect([port.texts(), port.count('edit')]).toEqual([['partial no more'], 0]);
  });

  it('replaces what an earlier attempt had written', async () => {
    const { parts, drive, port } = await open();
    fleet.start();
    const id = await fleet.offered();
    const first = await drive.start(id);
    await drive.write(first, 1, 1, 'Wrong way');
    await fleet.shows(['Wrong way']);
    await settleAttempt(parts.ledger, first, FAILED);
    const second = await drive.start(id);
    await drive.write(second, 2, 1, 'Right');
    await fleet.shows(['Right']);
    await drive.end(second, 'Right way');
    await fleet.becomes(id, 'delivered');
    expect([port.texts(), port.count('post')]).toEqual([['Right way'], 1]);
  });

  describe('to a message that interrupted another', () => {
    const MODE = { session: 's', mode: 'interrupt' } as const;
    /** A run that shows half an answer, is interrupted by the next message, and ends. */
    const interrupt = async (half: string, request: Partial<AcceptRequest> = {}): Promise<string> => {
      const first = await fleet.offered(MODE);
      const attempt = await fleet.drive.start(first);
      await fleet.drive.write(attempt, 1, 1, half);
      await waitFor(() => fleet.port.texts().join('').includes(half.slice(-5)), { deadlineMs: 5000, what: 'the half answer' });
      const second = await fleet.offered({ ...MODE, ...request });
      await endInterrupted(attempt);
      await fleet.becomes(first, 'delivered');
      return second;
    };

    it('stands in the half answer of that one, which is marked until then', async () => {
      const { port, drive } = await open();
      fleet.start();
      const second = await interrupt('As I was say');
      expect(port.texts()).toEqual(['As I was say\n\n(interrupted)']);
      const attempt = await drive.start(second);
      await drive.write(attempt, 1, 1, 'No, th');
      await fleet.shows(['No, th']);
      await drive.end(attempt, 'No, this.');
      expect((await fleet.becomes(second, 'delivered')).parts).toMatchObject([{ messageId: 'm1', isFinal: true }]);
      expect([port.texts(), port.count('post')]).toEqual([['No, this.'], 1]);
    });

    it('stands in the half answer of the first when several interrupted each other before they answered', async () => {
      const { port, drive } = await open();
      fleet.start();
      const second = await interrupt('As I was say');
      const attempt = await drive.start(second);
      const third = await fleet.offered(MODE);
      await endInterrupted(attempt);
      await drive.complete(third, 'The last word.');
      await fleet.becomes(third, 'delivered');
      expect([port.texts(), port.count('post')]).toEqual([['The last word.'], 1]);
    });

    it('empties the messages that it does not need, and opens those that it needs', async () => {
      const { port, drive } = await open();
      port.maxCharacters = 40;
      fleet.start();
      const second = await interrupt(Array.from({ length: 12 }, (_, n) => `word${n}`).join(' '));
      expect(port.texts().length).toBeGreaterThan(1);
      await drive.complete(second, 'Short.');
      await fleet.becomes(second, 'delivered');
      expect(new Set(port.texts().slice(1))).toEqual(new Set(['…']));
      expect(port.texts()[0]).toBe('Short.');
    });

    it('is a message of its own where the half answer was deleted', async () => {
      const { port, drive } = await open();
      fleet.start();
      const second = await interrupt('As I was say');
      port.messages.length = 0;
      await drive.complete(second, 'Again.');
      await fleet.becomes(second, 'delivered');
      expect(port.texts()).toEqual(['Again.']);
    });

    it('is a message of its own in another thread', async () => {
      const { port, drive } = await open();
      fleet.start();
      const second = await interrupt('As I was say', { reply: { platform: 'fake', thread: 't2' } });
      await drive.complete(second, 'Elsewhere.');
      await fleet.becomes(second, 'delivered');
      expect([port.texts(), port.texts('t2')]).toEqual([['As I was say\n\n(interrupted)'], ['Elsewhere.']]);
    });

    it('is a message of its own where no message can be edited, and the half answer was not shown', async () => {
      const { port, drive } = await open();
      port.minEditMs = null;
      fleet.start();
      const first = await fleet.offered(MODE);
      const attempt = await drive.start(first);
      await drive.write(attempt, 1, 1, 'As I was say');
      const second = await fleet.offered(MODE);
      await endInterrupted(attempt);
      await drive.complete(second, 'No, this.');
      await fleet.becomes(second, 'delivered');
      expect(port.texts()).toEqual(['No, this.']);
    });
  });

  it('says that an answer was stopped after what was shown of it, and nothing when nothing was', async () => {
    const { parts, drive } = await open();
    fleet.start();
    const [shown, silent] = [await fleet.offered(), await fleet.offered({ reply: { platform: 'fake', thread: 't2' } })];
    const attempt = await drive.start(shown);
    await drive.write(attempt, 1, 1, 'As I was say');
    await fleet.shows(['As I was say']);
    await settleAttempt(parts.ledger, attempt, { kind: 'cancelled', reason: '/stop' });
    await cancelTree(parts.ledger, TENANT, silent, '/stop');
    await fleet.becomes(shown, 'delivered');
    await fleet.becomes(silent, 'delivered');
    expect(fleet.port.texts()).toEqual(['As I was say\n\n(stopped)']);
    expect(fleet.port.texts('t2')).toEqual([]);
  });

  it('comes a second time when its task was opened again and ended otherwise', async () => {
    const { parts, drive } = await open();
    fleet.start();
    const id = await fleet.offered();
    await drive.fail(id, null);
    await fleet.becomes(id, 'delivered');
    expect(fleet.port.texts()).toEqual(['Sorry, this did not work (NETWORK_ERROR).']);
    await retryTask(parts, TENANT, id);
    await drive.complete(id, 'Now it did');
    await fleet.shows(['Sorry, this did not work (NETWORK_ERROR).', 'Now it did']);
  });

  it('follows a task that was opened again before the chat had all of it to its next end', async () => {
    const { parts, drive, port } = await open();
    const id = await fleet.offered();
    await drive.fail(id, null);
    const stored = await readDelivery(parts.ledger, TENANT, `${id}-reply`);
    const task = await readTask(parts.ledger, TENANT, id);
    if (!stored) throw new Error('It has a reply');
    await putDelivery(parts.ledger, stored, { ...stored.delivery, endedAt: task?.state.completedAt ?? null }, Date.now());
    await retryTask(parts, TENANT, id);
    const attempt = await drive.start(id);
    await drive.write(attempt, 2, 1, 'Half');
    fleet.start();
    await fleet.shows(['Half']);
    expect(await fleet.delivery(id)).toMatchObject({ endedAt: null, turn: 0 });
    await drive.end(attempt, 'All of it');
    await fleet.becomes(id, 'delivered');
    expect([port.texts(), port.count('post')]).toEqual([['All of it'], 1]);
  });

  it('tells how long its message waited for its turn, and not for a retry', async () => {
    const { port, drive, parts } = await open({ deliveries: { verbose: true, noticeAfterMs: 0 } });
    const id = await fleet.offered();
    await drive.fail(id, 0);
    const attempt = await drive.start(id);
    // As if it had waited three minutes for its second attempt.
    const { states } = parts.keys.tenant(TENANT);
    const state = parseKnownState((await parts.redis.hget(states, id)) ?? '') as { startedAt: number };
    await parts.redis.hset(states, id, storedState({ ...state, startedAt: state.startedAt + 180_000 }));
    fleet.start();
    await waitFor(() => port.texts().length > 0, { deadlineMs: 5000, what: 'the notice' });
    await drive.end(attempt, 'Here');
    await fleet.becomes(id, 'delivered');
    expect(port.texts()).toEqual([expect.stringMatching(/^queued for 0\.\d s$/), 'Here']);
  });

  it('tells once which daemon its message waits for, without a sign of typing', async () => {
    const { port, drive, parts } = await open();
    const id = await fleet.offered();
    const notice: HoldNotice = { event: 'task.waiting-for-daemon', facts: { daemon: 'laptop', detail: 'It waits for laptop' } };
    const hold = { gate: 'daemon', what: '{}' } as const;
    expect(await holdTask(parts.ledger, { tenant: TENANT, id, hold, until: null, notice })).toBe('notified');
    fleet.start();
    await fleet.shows(['(It waits for laptop)']);
    expect(port.count('typing')).toBe(0);
    await releaseHeld(parts.ledger, TENANT, hold, 1);
    await holdTask(parts.ledger, { tenant: TENANT, id, hold, until: null, notice });
    await releaseHeld(parts.ledger, TENANT, hold, 1);
    await drive.complete(id, 'Here');
    await fleet.becomes(id, 'delivered');
    expect(port.texts()).toEqual(['(It waits for laptop)', 'Here']);
  });

  it.each([...SUSPENDED_GATES, 'agent', 'failures', 'paused', 'repeats'] as const)(
    'shows no sign of typing while its message waits at the gate %s',
    async (gate) => {
      const { port, parts } = await open();
      const id = await fleet.offered();
      const hold = { gate, what: '{}' };
      expect(await holdTask(parts.ledger, { tenant: TENANT, id, hold, until: null })).toBe('held');
      // Its delivery is the second, so the other one was looked at before.
      await fleet.offered({ session: 'another', reply: { platform: 'fake', thread: 't2' } });
      fleet.start();
      await waitFor(() => port.count('typing', 't2') > 0, { deadlineMs: 8000, what: 'the sign of the other' });
      expect(port.count('typing')).toBe(0);
    },
  );

  it('tells once that its message waits for a person, as workers interrupted it too often', async () => {
    const { port, drive, parts } = await open();
    const id = await fleet.offered();
    const attempt = await drive.start(id);
    const hold = { gate: 'interruptions', what: 'echo' } as const;
    await settleAttempt(parts.ledger, attempt, { kind: 'interrupted', reason: 'interrupted 5 times', delayMs: 60_000, hold });
    fleet.start();
    await fleet.shows(['(interrupted 5 times; it waits until somebody retries it)']);
    await retryTask(parts, TENANT, id);
    await drive.complete(id, 'Here');
    await fleet.becomes(id, 'delivered');
    expect(port.texts()).toEqual(['(interrupted 5 times; it waits until somebody retries it)', 'Here']);
  });

  it('tells how long its message waited when that is wanted, once', async () => {
    const { port, drive } = await open({ deliveries: { verbose: true, noticeAfterMs: 0 } });
    fleet.start();
    const id = await fleet.offered();
    await drive.complete(id, 'Here');
    await fleet.becomes(id, 'delivered');
    expect(port.texts()).toEqual([expect.stringMatching(/^queued for \d+\.\d s$/), 'Here']);
  });

  it('that only waits leaves its slot to one that has something to say, and is back when its task starts', async () => {
    const { drive } = await open({ queues: { replies: { slots: 1 } }, deliveries: { stepAsideMs: 3_600_000 } });
    fleet.start();
    const waiting = await fleet.offered({ reply: { platform: 'fake', thread: 't2' } });
    const answered = await fleet.message();
    await drive.complete(answered, 'Me first');
    await fleet.becomes(answered, 'delivered');
    const queue = fleet.parts.queues.get(0, 'replies');
    await waitFor(async () => (await queue.getDelayedCount()) === 1, { deadlineMs: 5000, what: 'the other to step aside' });
    const attempt = await drive.start(waiting);
    await drive.write(attempt, 1, 1, 'I am back');
    await fleet.shows(['I am back'], 't2');
    await drive.end(attempt, 'I am back.');
    await fleet.becomes(waiting, 'delivered');
    expect(fleet.port.texts('t2')).toEqual(['I am back.']);
  });
});

describe('replies of one session', () => {
  it('come in the order of their messages, also when the first one has to be sent again', async () => {
    const { port, drive } = await open();
    const [first, second] = await both();
    port.refuse('post', 'throttled', { retryAfterMs: 300 });
    fleet.start();
    await drive.complete(first, 'first');
    await waitFor(async () => (await fleet.delivery(first))?.nextTryAt, { deadlineMs: 5000, what: 'the first to be refused' });
    const attempt = await drive.start(second);
    await drive.write(attempt, 1, 1, 'sec');
    await drive.end(attempt, 'second');
    await fleet.becomes(second, 'delivered');
    expect(port.texts()).toEqual(['first', 'second']);
  });

  it('tell how long a message waited behind the answer to the one before', async () => {
    const { port, drive } = await open({ deliveries: { verbose: true, noticeAfterMs: 0, pollMs: 50 } });
    const [first, second] = await both();
    // Its notice, which is not sent again, and its answer.
    port.refuse('post', 'throttled', { times: 2, retryAfterMs: 300 });
    fleet.start();
    await drive.complete(first, 'first');
    await waitFor(async () => (await fleet.delivery(first))?.nextTryAt, { deadlineMs: 5000, what: 'the first to be refused' });
    await drive.complete(second, 'second');
    await fleet.becomes(second, 'delivered');
    expect(port.texts()).toEqual(['first', expect.stringMatching(/^queued for/), 'second']);
  });

  it('wait a bounded time for an earlier one', async () => {
    const { port, drive } = await open({ deliveries: { orderWaitMs: 50 } });
    const [first, second] = await both();
    port.refuse('post', 'throttled', { retryAfterMs: 600_000 });
    fleet.start();
    await drive.complete(first, 'first');
    await waitFor(async () => (await fleet.delivery(first))?.nextTryAt, { deadlineMs: 5000, what: 'the first to be refused' });
    await drive.complete(second, 'second');
    await fleet.becomes(second, 'delivered');
    expect(port.texts()).toEqual(['second']);
  });
});

describe('when a process dies', () => {
  it('half-way through an answer, another one goes on from the record, and the dead one sends nothing when it wakes up', async () => {
    const { port, drive } = await open();
    port.maxCharacters = 40;
    const dying = fleet.start();
    const id = await fleet.offered();
    const attempt = await drive.start(id);
    await drive.write(attempt, 1, 1, 'One two');
    await fleet.shows(['One two']);
    const { reached, release } = port.hang('edit');
    await drive.write(attempt, 1, 2, ' three');
    await reached;
    await dying.stop(0);
    fleet.start();
    const complete = `One two three ${'four '.repeat(12)}`.trim();
    await drive.end(attempt, complete);
    const delivery = await fleet.becomes(id, 'delivered');
    const calls = port.calls.length;
    release();
    // The one that woke up finds out at its next write, which it needs before anything it would send.
    await fleet.offered({ reply: { platform: 'fake', thread: 't2' } });
    await waitFor(() => port.count('typing', 't2') > 0, { deadlineMs: 5000, what: 'work after the waking' });
    expect(port.texts().join(' ')).toBe(complete);
    expect(port.count('post')).toBe(2);
    expect(port.calls.slice(calls).filter(({ thread }) => thread === 't1')).toEqual([]);
    expect(await fleet.delivery(id)).toEqual(delivery);
  });

  it('before it wrote down what was posted, the part is posted again rather than lost', async () => {
    const { port, drive } = await open();
    const dying = fleet.start();
    const id = await fleet.message();
    const { reached, release } = port.hang('post');
    await drive.complete(id, 'Once or twice');
    await reached;
    await dying.stop(0);
    expect((await fleet.delivery(id))?.parts).toEqual([{ index: 0, messageId: null, digest: null, isFinal: true }]);
    fleet.start();
    await fleet.becomes(id, 'delivered');
    release();
    expect(port.texts()).toEqual(['Once or twice', 'Once or twice']);
  });

  it('that stops in order hands what waits to another one at once', async () => {
    const { port, drive } = await open({ deliveries: { lockMs: 60_000 } });
    const first = fleet.start();
    const id = await fleet.offered();
    await waitFor(() => port.count('typing') > 0, { deadlineMs: 5000, what: 'a sign of typing' });
    await first.stop(2000);
    fleet.start();
    await drive.complete(id, 'Handed on');
    await fleet.becomes(id, 'delivered');
    expect(port.texts()).toEqual(['Handed on']);
  });
});

describe('a platform that refuses', () => {
  it('for now is tried again when the platform said, which costs no try', async () => {
    const { port, drive } = await open({ deliveries: { maxAttempts: 1 } });
    const id = await fleet.message();
    await drive.complete(id, 'Patience');
    port.refuse('post', 'throttled', { times: 2, retryAfterMs: 30 });
    fleet.start();
    const delivery = await fleet.becomes(id, 'delivered');
    expect([port.texts(), port.count('post'), delivery.attempts]).toEqual([['Patience'], 3, 0]);
  });

  it('while the answer is written gets all of it at the end', async () => {
    const { port, drive } = await open();
    fleet.start();
    const id = await fleet.offered();
    const attempt = await drive.start(id);
    port.refuse('edit', 'throttled', { times: 2, retryAfterMs: 20 });
    port.refuse('edit', 'transient');
    await drive.write(attempt, 1, 1, 'a');
    await fleet.shows(['a']);
    await drive.write(attempt, 1, 2, 'b');
    await waitFor(() => port.count('edit') >= 1, { deadlineMs: 5000, what: 'an edit to be refused' });
    await drive.end(attempt, 'abc');
    await fleet.becomes(id, 'delivered');
    expect([port.texts(), port.count('post')]).toEqual([['abc'], 1]);
  });

  it('for good is not asked again', async () => {
    const { port, drive } = await open();
    fleet.start();
    const id = await fleet.message({ reply: { platform: 'fake', thread: 'gone' } });
    port.refuse('post', 'gone');
    await drive.complete(id, 'Anybody there?');
    const delivery = await fleet.becomes(id, 'failed');
    expect(delivery.error).toEqual({ code: 'gone', message: 'the fake is gone' });
    const next = await fleet.message();
    await drive.complete(next, 'next');
    await fleet.becomes(next, 'delivered');
    expect(port.count('post', 'gone')).toBe(1);
  });

  it('to change a message that somebody deleted gets the answer as another one', async () => {
    const { port, drive } = await open();
    fleet.start();
    const id = await fleet.offered();
    const attempt = await drive.start(id);
    await drive.write(attempt, 1, 1, 'As I');
    await fleet.shows(['As I']);
    port.messages.splice(0, 1, { id: 'other', thread: 't1', text: 'Off with it', edits: 0 });
    await drive.write(attempt, 1, 2, ' was say');
    await waitFor(() => port.count('edit') > 0, { deadlineMs: 5000, what: 'an edit' });
    await drive.end(attempt, 'As I was saying');
    const delivery = await fleet.becomes(id, 'delivered');
    expect([port.texts(), delivery.parts.map(({ messageId }) => messageId)]).toEqual([['Off with it', 'As I was saying'], ['m2']]);
  });

  it('to change a message ten times while it grows gets one other message, with all of it', async () => {
    const { port, drive } = await open();
    fleet.start();
    const id = await fleet.offered();
    const attempt = await drive.start(id);
    await drive.write(attempt, 1, 1, 'As I');
    await fleet.shows(['As I']);
    port.refuse('edit', 'gone', { times: 100 });
    for (let piece = 2; piece <= 11; piece += 1) {
      await drive.write(attempt, 1, piece, ` and ${piece}`);
      await waitFor(() => port.count('edit') > 0, { deadlineMs: 5000, what: 'an edit' });
    }
    await drive.end(attempt, 'As I and all');
    await fleet.becomes(id, 'delivered');
    expect([port.texts(), port.count('post')]).toEqual([['As I', 'As I and all'], 2]);
  });

  it('to change anything in a chat that is gone is not asked again', async () => {
    const { port, drive } = await open();
    fleet.start();
    const id = await fleet.offered();
    const attempt = await drive.start(id);
    await drive.write(attempt, 1, 1, 'As I');
    await fleet.shows(['As I']);
    port.refuse('edit', 'gone');
    port.refuse('post', 'gone');
    await drive.end(attempt, 'As I was saying');
    expect((await fleet.becomes(id, 'failed')).error?.code).toBe('gone');
    expect([port.count('post'), port.count('edit')]).toEqual([2, 1]);
  });

  it('again and again is given up after so many tries', async () => {
    const { port, drive } = await open({ deliveries: { maxAttempts: 3 } });
    fleet.start();
    const id = await fleet.message();
    port.refuse('post', 'transient', { times: 9 });
    await drive.complete(id, 'Hello?');
    const delivery = await fleet.becomes(id, 'failed');
    expect([delivery.attempts, delivery.error?.code, port.count('post')]).toEqual([3, 'transient', 3]);
  });

  it('without saying what became of it leaves the delivery unknown, and nothing is sent again', async () => {
    const { port, drive } = await open();
    fleet.start();
    const id = await fleet.message();
    port.refuse('post', 'unknown');
    await drive.complete(id, 'Did you get this?');
    await fleet.becomes(id, 'unknown');
    const next = await fleet.message({ reply: { platform: 'fake', thread: 't2' } });
    await drive.complete(next, 'next');
    await fleet.becomes(next, 'delivered');
    expect(port.count('post')).toBe(1);
  });

  it('by never answering is taken for one that does not say', async () => {
    const { port, drive } = await open();
    port.callTimeoutMs = 50;
    fleet.start();
    const id = await fleet.message();
    const { release } = port.hang('post');
    await drive.complete(id, 'Hello?');
    const delivery = await fleet.becomes(id, 'unknown');
    release();
    expect(delivery.error?.message).toBe('The platform did not answer within 50 ms');
  });

  it('to show that somebody types does no harm', async () => {
    const { port, drive } = await open();
    port.refuse('typing', 'gone', { times: 3 });
    fleet.start();
    const id = await fleet.offered();
    await waitFor(() => port.count('typing') > 0, { deadlineMs: 5000, what: 'a sign of typing' });
    await drive.complete(id, 'All the same');
    await fleet.becomes(id, 'delivered');
    expect(port.texts()).toEqual(['All the same']);
  });

  it('because this process does not serve it, is left to one that does', async () => {
    const { drive, port } = await open({ deliveries: { auditMs: 100 } });
    const id = await fleet.message();
    await drive.complete(id, 'For the other one');
    const other = fleet.start([]);
    const waiting = await waitFor(async () => (await fleet.delivery(id))?.nextTryAt, { deadlineMs: 5000, what: 'a next try' });
    expect(waiting).toBeGreaterThan(Date.now());
    expect([(await fleet.delivery(id))?.error?.code, port.calls]).toEqual(['no-platform', []]);
    await other.stop(500);
  });
});
