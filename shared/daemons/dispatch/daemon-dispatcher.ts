import type { AgentDefinition } from '../../config/index.ts';
import { TaskFailure } from '../../errors/index.ts';
import { type HoldNotice, holdTask, type Ledger, readBody, readState, readStateTogether, type TicketClaim } from '../../ledger/index.ts';
import type { Log } from '../../log/index.ts';
import { isLeft, type TicketData, type TicketNeeds, type TicketResult } from '../../queue/index.ts';
import { hasAttempt, knownUser, PRIORITY_NAMES, type Task, type TaskBody, type TaskState, type TaskStatus } from '../../tasks/index.ts';
import { wait } from '../../time/index.ts';
import { listDaemons } from '../daemon-store.ts';
import { chooseDaemon, isCapable } from './choose-daemon.ts';
import type { DaemonDirectory, KnownDaemon } from './daemon-directory.ts';
import { HeldSearch } from './held-search.ts';
import { HubLink, type Subscribe } from './hub-link.ts';
import { type LocalDaemon, type LocalDaemons, serves } from './local-daemons.ts';
import { type CurrentNeeds, type Needs, needsKey, needsOf } from './needs.ts';

interface DaemonDispatcherOptions {
  /** This hub's name. */
  hub: string;
  ledger: Ledger;
  directory: DaemonDirectory;
  local: LocalDaemons;
  findAgent: (tenant: string, id: string) => Promise<AgentDefinition | null>;
  /** Claims a task only to fail it, for one that no daemon can ever run. */
  fail: (ticket: TicketData, how: TicketClaim, failure: TaskFailure) => Promise<TicketResult>;
  /** Whether a ticket keeps its slot here while another hub runs its task. A worker has other work for the slot. */
  keepsSlot: boolean;
  subscribe: Subscribe;
  settings: {
    /** How long another hub may take to answer an offer, ms. */
    offerMs: number;
    /** Between two searches for held tasks that a daemon here could run, for lost messages, ms. */
    sweepMs: number;
  };
  log: Log;
}

/** A task whose retry has no delay keeps the status of its attempt until it is claimed. */
const WAITING: ReadonlySet<TaskStatus> = new Set(['queued', 'failed', 'timeout']);
const AT_ANOTHER_HUB: TicketResult = { kind: 'done', note: 'runs at another hub' };
/** Daemons that one ticket is offered to before its task is held. */
const MAX_OFFERS = 20;

/**
 * DaemonDispatcher is responsible for which daemon runs a task that came out of the queue: it runs on a daemon of this hub, is offered to the
 * hub that holds the chosen one, or is held by what it needs until a daemon that fits has room.
 */
export class DaemonDispatcher {
  readonly #options: DaemonDispatcherOptions;
  readonly #link: HubLink;
  readonly #search: HeldSearch;
  readonly #stopping = new AbortController();
  /** What ends the waits for tasks that run at other hubs, by `<tenant>/<task>`. */
  readonly #elsewhere = new Map<string, () => void>();

  constructor(options: DaemonDispatcherOptions) {
    const { ledger, hub, subscribe, settings, local } = options;
    this.#options = options;
    this.#link = new HubLink({
      redis: ledger.redis,
      keys: ledger.keys,
      hub,
      subscribe,
      offerMs: settings.offerMs,
      take: ({ daemon: id, ticket, how }) => this.#take(local.find(ticket.tenant, id), ticket, how),
      onAdopted: (attempt) => this.#endWait(attempt),
      onHeld: (tenant, what) => this.#search.noteHeld(tenant, what),
    });
    this.#search = new HeldSearch(options);
  }

  start(): void {
    this.#link.start();
    this.#search.start();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#search.stop();
    this.#link.stop();
  }

  /** Why it receives nothing, in words; else null. */
  get problem(): string | null {
    return this.#link.problem;
  }

  /** This hub has adopted an attempt, and counts it: the hub that offered its task does so no more. */
  noteAdopted(attempt: Pick<TicketData, 'tenant' | 'task'>): void {
    this.#endWait(attempt);
    void this.#link.publishAdopted(attempt);
  }

  /** Takes a ticket to its end, or holds its task. */
  async handle(ticket: TicketData, how: TicketClaim): Promise<TicketResult> {
    return (await this.#runAtOnce(ticket, how)) ?? (await this.#runOrHold(ticket, how));
  }

  /** Runs a new task whose ticket says what it needs: only the claim reads it. Null when more has to be known to decide. */
  async #runAtOnce(ticket: TicketData, how: TicketClaim): Promise<TicketResult | null> {
    const { tenant, needs: task } = ticket;
    if (!task) return null;
    const { needs } = await this.#needsOf({ tenant, ...task }, {});
    // A held task may go first, which the task's place in the queue decides.
    if (this.#search.mayHold(tenant)) return null;
    const chosen = chooseDaemon(this.#candidates(tenant), needs);
    return chosen && (await this.#give(chosen, ticket, how));
  }

  async #runOrHold(ticket: TicketData, how: TicketClaim): Promise<TicketResult> {
    const { ledger, fail } = this.#options;
    const { tenant, task: id } = ticket;
    const [body, state] = await Promise.all([readBody(ledger, tenant, id), readStateTogether(ledger, tenant, id)]);
    if (!body || !state || !WAITING.has(state.status)) return { kind: 'done', note: 'nothing to do: it does not wait' };
    const current = await this.#needsOf({ ...body, user: knownUser(body) }, state);
    const given = await this.#offer(ticket, how, { needs: current.needs, state });
    if (given) return given;
    if (await this.#isUnknownTarget(tenant, current.needs)) {
      return await fail(ticket, how, new TaskFailure('DAEMON_NOT_FOUND', `There is no daemon "${current.needs.target}"`));
    }
    return await this.#hold(ticket, { current, task: { body, state } });
  }

  async #needsOf(body: TicketNeeds & Pick<TaskBody, 'tenant'>, state: Pick<TaskState, 'excluded'>): Promise<CurrentNeeds> {
    const agent = await this.#options.findAgent(body.tenant, body.agent);
    const isForDaemons = agent?.kind === 'daemon' || body.requirements?.targetDaemon !== undefined;
    return needsOf(body, state, { now: Date.now(), isForDaemons });
  }

  /** Offers a task to one daemon after the other; null when none takes it. */
  async #offer(ticket: TicketData, how: TicketClaim, { needs, state }: { needs: Needs; state: TaskState }): Promise<TicketResult | null> {
    const { tenant, task: id } = ticket;
    const refused = new Set<string>();
    while (refused.size < MAX_OFFERS) {
      const candidates = this.#candidates(tenant).filter((daemon) => !refused.has(daemon.id));
      const chosen = chooseDaemon(candidates, needs);
      // What comes new from the queue does not pass a held task that would run there.
      if (!chosen || (await this.#search.hasBefore({ id, state }, tenant, chosen))) return null;
      const result = await this.#give(chosen, ticket, how);
      if (result) return result;
      refused.add(chosen.id);
    }
    return null;
  }

  /** This hub's daemons as they are, those of others as they were reported. */
  #candidates(tenant: string): KnownDaemon[] {
    const { local, directory, hub } = this.#options;
    const own = [...local.all()].filter((daemon) => serves(daemon, tenant));
    const ids = new Set(own.map(({ id }) => id));
    return [...own, ...directory.of(tenant).filter(({ id, state }) => state.hub !== hub && !ids.has(id))];
  }

  /** Null when the daemon has no room after all, or its hub does not answer. */
  async #give({ id, state }: KnownDaemon, ticket: TicketData, how: TicketClaim): Promise<TicketResult | null> {
    const { local, directory, keepsSlot } = this.#options;
    const { tenant } = ticket;
    const own = local.find(tenant, id);
    if (own) return await this.#take(own, ticket, how);
    directory.noteTask(tenant, id);
    const answer = await this.#link.offer(state.hub, { daemon: id, ticket, how, keepsSlot });
    if (answer.outcome === 'taken') {
      const { ended, forget } = answer;
      const result = keepsSlot ? this.#untilEnded(ticket, state.hub, ended) : Promise.resolve(AT_ANOTHER_HUB);
      return await result.finally(forget);
    }
    directory.noteFull(tenant, id);
    return null;
  }

  #take(daemon: LocalDaemon | undefined, ticket: TicketData, how: TicketClaim): Promise<TicketResult> | null {
    if (!daemon || daemon.state.isDraining || daemon.state.running >= daemon.state.slots) return null;
    this.#search.noteArrival(daemon.id);
    return daemon.run(ticket, how);
  }

  #endWait({ tenant, task }: Pick<TicketData, 'tenant' | 'task'>): void {
    this.#elsewhere.get(`${tenant}/${task}`)?.();
  }

  /**
   * Resolves when the task has ended at the other hub, or a third one has adopted and counts it, which the other's end leaves to it. Messages of
   * both may be lost: then the task's state says so.
   */
  async #untilEnded({ tenant, task }: TicketData, hub: string, ended: Promise<TicketResult>): Promise<TicketResult> {
    const { ledger } = this.#options;
    const adopted = new AbortController();
    const signal = AbortSignal.any([this.#stopping.signal, adopted.signal]);
    const name = `${tenant}/${task}`;
    this.#elsewhere.set(name, () => adopted.abort());
    const isOver = async (): Promise<TicketResult> => {
      while (await wait(ledger.settings.worker.leaseMs, signal)) {
        const state = await readState(ledger, tenant, task).catch(() => undefined);
        if (state === null || (state && !(hasAttempt(state.status) && state.worker === hub))) break;
      }
      return { kind: 'done', note: 'runs, or ran, at another hub', ...(this.#stopping.signal.aborted ? { isLeft: true } : {}) };
    };
    const over = isOver();
    const isEnded = ended.then((result) => (isLeft(result) ? over : result));
    return await Promise.race([isEnded, over]).finally(() => {
      this.#elsewhere.delete(name);
      adopted.abort();
    });
  }

  async #isUnknownTarget(tenant: string, { target }: Needs): Promise<boolean> {
    if (target === null) return false;
    const known = await listDaemons(this.#options.ledger, tenant);
    return !known.some(({ id, name }) => id === target || name === target);
  }

  async #hold(
    { tenant, task: id }: TicketData,
    { current: { needs, until }, task }: { current: CurrentNeeds; task: Pick<Task, 'body' | 'state'> },
  ): Promise<TicketResult> {
    const { ledger, log } = this.#options;
    const notice = this.#noticeOf(tenant, needs, task);
    const what = needsKey(needs);
    const answer = await holdTask(ledger, { tenant, id, hold: { gate: 'daemon', what }, until, notice });
    if (answer === 'notified') log.info({ event: notice?.event, task: id, tenant, ...notice?.facts }, 'a task waits for a daemon');
    if (answer !== 'gone') {
      await this.#link.publishHeld(tenant, what);
      // A daemon may have got room since it was chosen from.
      this.#search.noteHeld(tenant, what);
    }
    return { kind: 'done', note: 'held until a daemon can run it' };
  }

  /** What the task's people should know about its wait. */
  #noticeOf(tenant: string, needs: Needs, { body, state: { priority } }: Pick<Task, 'body' | 'state'>): HoldNotice | undefined {
    const connected = this.#candidates(tenant);
    const isThere = connected.some((daemon) => isCapable(daemon, needs));
    if (isThere) return undefined;
    if (needs.target !== null) {
      const detail = `It waits for the daemon "${needs.target}", which is not connected`;
      return { event: 'task.waiting-for-daemon', facts: { daemon: needs.target, detail } };
    }
    if (priority >= PRIORITY_NAMES.critical) {
      return { event: 'task.blocked', facts: { detail: 'It is urgent and cannot run: no daemon that is connected can run it' } };
    }
    if (body.reply === null) return undefined;
    // Whoever wrote in a chat would hear nothing until a machine is switched on.
    const found = connected.length === 0 ? 'no daemon is connected' : 'no connected daemon can run it';
    return { event: 'task.waiting-for-daemon', facts: { daemon: null, detail: `It waits for a daemon: ${found}` } };
  }
}
