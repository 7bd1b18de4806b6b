import { expect, it } from 'vitest';
import { countOffered } from '#shared/daemons/dispatch/count-offered.ts';
import type { TicketResult } from '#shared/queue/index.ts';
import { waitFor } from '../../../support/wait-for.ts';

const DONE: TicketResult = { kind: 'done', note: 'completed' };

/** What one process counts, and how often it was asked whether another one does. */
class Count {
  counted = 0;
  checks = 0;
  standing = true;
  left = 0;

  adopt(): () => void {
    this.counted += 1;
    return () => {
      this.counted -= 1;
    };
  }

  leave(): void {
    this.left += 1;
  }

  stands(): Promise<boolean> {
    this.checks += 1;
    return this.standing ? Promise.resolve(true) : Promise.resolve(false);
  }
}

it('an offered task counts where it runs once the hub that offered it is gone, and until its end', async () => {
  const count = new Count();
  const task = Promise.withResolvers<TicketResult>();
  const running = countOffered(task.promise, { count, from: 'h1', keepsSlot: true, everyMs: 1 });
  await waitFor(() => count.checks > 1, { deadlineMs: 5000, what: 'two checks' });
  expect(count.counted).toBe(0);
  count.standing = false;
  await waitFor(() => count.counted === 1, { deadlineMs: 5000, what: 'the task to count here' });
  task.resolve(DONE);
  expect(await running).toEqual(DONE);
  expect(count.counted).toBe(0);
});

it('an offered task for which no slot is kept counts where it runs from the beginning, also when it fails', async () => {
  const count = new Count();
  const task = Promise.withResolvers<TicketResult>();
  const running = countOffered(task.promise, { count, from: 'w1', keepsSlot: false, everyMs: 1 });
  expect(count.counted).toBe(1);
  task.reject(new Error('cut'));
  await expect(running).rejects.toThrow('cut');
  expect([count.counted, count.checks]).toEqual([0, 0]);
});

it('an offered task that ends while its hub is there counts there alone', async () => {
  const count = new Count();
  expect(await countOffered(Promise.resolve(DONE), { count, from: 'h1', keepsSlot: true, everyMs: 1 })).toEqual(DONE);
  count.standing = false;
  // The check that was under way has its answer by then.
  await new Promise(setImmediate);
  expect(count.counted).toBe(0);
});

it('an offered task that counts here and goes on elsewhere is left to count', async () => {
  const count = new Count();
  const left: TicketResult = { kind: 'done', note: 'goes on at another hub', isLeft: true };
  await countOffered(Promise.resolve(left), { count, from: 'w1', keepsSlot: false, everyMs: 1 });
  expect([count.left, count.counted]).toEqual([1, 0]);
  await countOffered(Promise.resolve(left), { count, from: 'h1', keepsSlot: true, everyMs: 1 });
  expect(count.left).toBe(1);
});
