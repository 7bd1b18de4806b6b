import { UnrecoverableError } from 'bullmq';
import type { DrawnFate, TakenTicket } from '../../ledger/index.ts';
import type { JobSource } from '../consumer/job-source.ts';
import type { TicketQueue } from '../queues.ts';
import { type Ticket, ticketId, ticketJob } from '../tickets/ticket.ts';
import type { FetchedJob, JobFetcher } from './job-fetcher.ts';
import type { TicketResult } from './ticket-result.ts';

/**
 * DrawnJobs is responsible for what becomes of jobs in BullMQ once the ledger has decided about their tasks. None of it is the truth about a
 * task: a job that stays behind is dropped when it is drawn again.
 */
export class DrawnJobs {
  readonly #source: JobSource;
  readonly #fetchers = new Map<string, JobFetcher>();
  readonly #ending = new Set<Promise<void>>();

  constructor(source: JobSource) {
    this.#source = source;
  }

  add({ token }: FetchedJob, fetcher: JobFetcher): void {
    this.#fetchers.set(token, fetcher);
  }

  /** Ends jobs as a claim says, and returns those of the tickets that it got, by task. */
  decide(drawn: readonly FetchedJob[], fates: readonly DrawnFate[]): Map<string, FetchedJob> {
    const taken = new Map<string, FetchedJob>();
    for (const [at, fetched] of drawn.entries()) {
      const fate = fates[at] ?? 'returned';
      if (fate === 'taken') taken.set(fetched.job.data.task, fetched);
      else if (fate === 'returned') this.giveBack(fetched);
      else this.remove(fetched);
    }
    return taken;
  }

  /** Takes the job of a ticket out of those that were drawn. One that waits in BullMQ is removed: its task starts without it. */
  jobOf(drawn: Map<string, FetchedJob>, queue: TicketQueue, { ticket, hasJob }: TakenTicket): FetchedJob | undefined {
    const job = drawn.get(ticket.task);
    drawn.delete(ticket.task);
    if (!job && hasJob) this.#note(queue.remove(ticketId(ticket.task, ticket.number)), ticket.task);
    return job;
  }

  /** Resolves when each call so far was answered. */
  async idle(): Promise<void> {
    await Promise.all(this.#ending);
  }

  /** Its attempt has ended. */
  end(fetched: FetchedJob, result: TicketResult): void {
    if (result.kind === 'failed') return this.fail(fetched, result.message);
    if (result.kind === 'returned') return this.remove(fetched);
    this.#finish(fetched, async ({ job, token }) => void (await job.moveToCompleted(result.note, token, false)));
  }

  /** The board lists it as failed. */
  fail(fetched: FetchedJob, message: string): void {
    const error = Object.assign(new UnrecoverableError(message), { stack: message });
    this.#finish(fetched, async ({ job, token }) => void (await job.moveToFailed(error, token, false)));
  }

  /** Another slot may start it. */
  giveBack(fetched: FetchedJob): void {
    this.#finish(fetched, async ({ job, token }) => void (await job.moveToWait(token)));
  }

  remove(fetched: FetchedJob): void {
    this.#finish(fetched, async ({ job, token }) => {
      job.opts.removeOnComplete = true;
      await job.moveToCompleted('', token, false);
    });
  }

  /** BullMQ gets a ticket only to list it as failed. */
  listFailed(queue: TicketQueue, ticket: Ticket, message: string): void {
    const { name, data, opts } = ticketJob(ticket);
    this.#note(queue.add(name, { ...data, failed: message }, opts), ticket.task);
  }

  #finish(fetched: FetchedJob, act: (fetched: FetchedJob) => Promise<void>): void {
    this.#note(act(fetched), fetched.job.data.task, () => {
      this.#fetchers.get(fetched.token)?.release(fetched.token);
      this.#fetchers.delete(fetched.token);
    });
  }

  #note(act: Promise<unknown>, task: string, onEnd?: () => void): void {
    const ending = act
      .then(
        () => undefined,
        (error: unknown) =>
          this.#source.log.debug({ err: error, task }, 'a job of BullMQ could not be ended; it is dropped once it comes again'),
      )
      .finally(() => {
        onEnd?.();
        this.#ending.delete(ending);
      });
    this.#ending.add(ending);
  }
}
