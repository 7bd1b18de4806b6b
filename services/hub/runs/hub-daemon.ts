import type { AgentRun } from '#shared/agents/index.ts';
import type { AgentResult, HubSettings } from '#shared/config/index.ts';
import type { DaemonMessage, DaemonState, HubMessageToSend, LocalDaemon } from '#shared/daemons/index.ts';
import { executeTicket, type ExecuteTicketParts, type Execution, resumeAttempt } from '#shared/execution/index.ts';
import { adoptAttempt, leaseMember, readState, type SettleAnswer, type TicketClaim } from '#shared/ledger/index.ts';
import type { TicketData, TicketResult } from '#shared/queue/index.ts';
import type { DaemonConnection } from '../connections/daemon-connection.ts';
import { RemoteAttempt, type Report } from './remote-attempt.ts';

/** What runs attempts on daemons, but for the daemon itself. */
export type HubExecutor = Omit<ExecuteTicketParts, 'isolation' | 'runIsolated' | 'runAgent'>;

export interface HubDaemonOptions {
  tenant: string;
  id: string;
  executor: HubExecutor;
  settings: HubSettings;
  /** It may have a slot free that it did not have, or be idle. */
  onChange: (daemon: HubDaemon) => void;
  /** One of its slots was taken. */
  onTaken: (daemon: HubDaemon) => void;
}

/** An attempt as messages name it. */
interface AttemptName {
  taskId: string;
  token: number;
}

/** What a daemon learns of the attempts that it came with. */
interface Reattached {
  keep: string[];
  drop: string[];
  resume: { taskId: string; token: number; seq: number }[];
}

/** Tasks that the state of a daemon names. */
const MAX_LISTED = 100;

function keyOf({ taskId, token }: AttemptName): string {
  return `${taskId}/${token}`;
}

/**
 * HubDaemon is responsible for one daemon at this hub: the attempts that it runs for it, which outlive a connection, and which of its
 * results the ledger took.
 */
export class HubDaemon implements LocalDaemon {
  readonly tenant: string;
  readonly id: string;
  readonly #options: HubDaemonOptions;
  readonly #executor: ExecuteTicketParts;
  readonly #attempts = new Map<string, RemoteAttempt>();
  /** Results that arrived and are being settled. */
  readonly #settling = new Set<string>();
  /** Attempts of other hubs that are being taken over. */
  readonly #resuming = new Map<string, PromiseWithResolvers<void>>();
  #connection: DaemonConnection | null = null;
  #running = 0;
  /** Of these, the ones whose tasks are CPU-intensive. */
  #cpuIntensive = 0;

  constructor(options: HubDaemonOptions) {
    const { tenant, id, executor } = options;
    this.tenant = tenant;
    this.id = id;
    this.#options = options;
    this.#executor = {
      ...executor,
      daemon: id,
      // A process that is lost under it is the hub, which it does not run in.
      isolation: () => undefined,
      runIsolated: () => Promise.resolve({ kind: 'returned' }),
      runAgent: (run, execution) => this.#runAgent(run, execution),
      onSettled: (ref, answer) => this.#onSettled({ taskId: ref.id, token: ref.token }, answer),
    };
  }

  get connection(): DaemonConnection | null {
    return this.#connection;
  }

  /** Whether it is neither connected nor runs anything for this hub. */
  get isIdle(): boolean {
    return this.#connection === null && this.#running === 0;
  }

  /** Throws without a connection: only a connected daemon is chosen from. */
  get state(): DaemonState {
    if (!this.#connection) throw new Error(`The daemon ${this.id} is not connected here`);
    const tasks = [...this.#attempts.keys()].slice(0, MAX_LISTED).map((key) => key.slice(0, key.indexOf('/')));
    return this.#connection.stateWith({ running: this.#running, cpuIntensive: this.#cpuIntensive, tasks });
  }

  async run(ticket: TicketData, how: TicketClaim): Promise<TicketResult> {
    return await this.#inSlot(() => executeTicket(this.#executor, ticket, how));
  }

  /** From now on this connection is the daemon's. Returns the one before. */
  connect(connection: DaemonConnection): DaemonConnection | null {
    const before = this.#connection;
    this.#connection = connection;
    return before;
  }

  /** The connection ended: its attempts have the grace. Does nothing when another one has taken its place. */
  disconnect(connection: DaemonConnection): boolean {
    if (this.#connection !== connection) return false;
    this.#connection = null;
    for (const attempt of this.#attempts.values()) attempt.lose();
    return true;
  }

  /** Goes on with what the daemon still runs, or has finished meanwhile, of this hub and of others. */
  async reattach({ running, finished }: Pick<DaemonMessage<'daemon.hello'>, 'running' | 'finished'>): Promise<Reattached> {
    const areKept = await Promise.all(running.map((name) => this.#keep(name)));
    // Whatever became of these, the daemon sends its result and learns it then.
    const areOpen = await Promise.all(finished.map((name) => this.#keep(name)));
    const kept = [...running.filter((_, at) => areKept[at]), ...finished.filter((_, at) => areOpen[at])];
    return {
      keep: kept.map(({ taskId }) => taskId),
      drop: running.flatMap(({ taskId }, at) => (areKept[at] ? [] : [taskId])),
      resume: kept.flatMap(({ taskId, token }) => {
        const attempt = this.#attempts.get(keyOf({ taskId, token }));
        return attempt ? [{ taskId, token, seq: attempt.seq }] : [];
      }),
    };
  }

  /** The daemon has its welcome: it gets what it may have missed, and what it forgot has failed. */
  resumeAll({ running, finished }: Pick<DaemonMessage<'daemon.hello'>, 'running' | 'finished'>): void {
    const known = new Set([...running, ...finished].map((name) => keyOf(name)));
    for (const [key, attempt] of this.#attempts) {
      if (!known.has(key) && attempt.isAccepted) attempt.fail('DAEMON_CRASHED', 'The daemon came back without the attempt');
      else attempt.attach();
    }
    this.#options.onChange(this);
  }

  /** Takes what the daemon reports of an attempt. */
  receive(report: Report): void {
    const key = keyOf(report);
    const attempt = this.#attempts.get(key);
    const isResult = report.type === 'task.completed' || report.type === 'task.failed';
    if (attempt) {
      if (isResult) this.#settling.add(key);
      attempt.receive(report);
      return;
    }
    if (this.#settling.has(key)) return;
    if (isResult) void this.#answerLate(report);
    else this.#send({ type: 'task.cancel', taskId: report.taskId, token: report.token, reason: 'the attempt is over' });
  }

  /** Leaves its attempts to another hub: those that the daemon has, under leases that stand as long as possible. */
  handOver(): void {
    for (const attempt of this.#attempts.values()) {
      if (attempt.isAccepted) attempt.detach();
    }
  }

  /** Leaves those attempts to another hub that it has adopted. */
  async detachAdopted(): Promise<void> {
    const { ledger, worker } = this.#executor;
    await Promise.all(
      [...this.#attempts].map(async ([key, attempt]) => {
        const [id = ''] = key.split('/');
        const state = await readState(ledger, this.tenant, id);
        if (state?.status === 'running' && state.worker !== worker) attempt.detach();
      }),
    );
  }

  async #inSlot(work: () => Promise<TicketResult>): Promise<TicketResult> {
    this.#running += 1;
    this.#options.onTaken(this);
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#options.onChange(this);
    }
  }

  /** Whether an attempt that the daemon names goes on here. */
  async #keep(name: AttemptName): Promise<boolean> {
    const key = keyOf(name);
    if (this.#attempts.has(key) || this.#settling.has(key)) return true;
    const ref = { tenant: this.tenant, id: name.taskId, token: name.token };
    // Its result is being settled.
    if (this.#executor.keeper.has(leaseMember(ref))) return true;
    await (this.#resuming.get(key)?.promise ?? this.#adopt(key, ref));
    return this.#attempts.has(key);
  }

  /** Takes over an attempt of another hub, if it still runs. Resolves once it goes on here, or does not. */
  async #adopt(key: string, ref: { tenant: string; id: string; token: number }): Promise<void> {
    const { ledger, worker } = this.#executor;
    const resuming = Promise.withResolvers<void>();
    this.#resuming.set(key, resuming);
    try {
      const adopted = await adoptAttempt(ledger, ref, { worker, daemon: this.id });
      if (adopted.kind === 'gone') return;
      const ending = this.#inSlot(() => resumeAttempt(this.#executor, ref, adopted));
      await Promise.race([resuming.promise, ending]);
    } finally {
      resuming.resolve();
      this.#resuming.delete(key);
    }
  }

  async #runAgent(run: AgentRun, execution: Execution): Promise<AgentResult> {
    const { graceMs, resendMs } = this.#options.settings;
    const { id: taskId, token } = execution.attempt.ref;
    const key = keyOf({ taskId, token });
    const attempt = new RemoteAttempt({ run, execution, send: (message) => this.#send(message), graceMs, resendMs });
    this.#attempts.set(key, attempt);
    this.#resuming.get(key)?.resolve();
    if (!this.#connection) attempt.lose();
    const isIntensive = execution.body.requirements?.cpuIntensive === true ? 1 : 0;
    this.#cpuIntensive += isIntensive;
    try {
      return await attempt.run();
    } finally {
      this.#cpuIntensive -= isIntensive;
      this.#attempts.delete(key);
    }
  }

  #send(message: HubMessageToSend): void {
    this.#connection?.send(message);
  }

  #onSettled(name: AttemptName, { kind }: SettleAnswer): void {
    const key = keyOf(name);
    // One that was stopped may have no answer of its daemon.
    this.#attempts.get(key)?.fail('DAEMON_UNRESPONSIVE', 'The attempt ended without its daemon');
    if (this.#settling.delete(key)) this.#acknowledge(name, kind === 'settled' ? 'kept' : 'refused');
  }

  /** A result that nobody waits for: sent a second time, or too late. */
  async #answerLate({ type, taskId, token }: Report): Promise<void> {
    const state = await readState(this.#executor.ledger, this.tenant, taskId).catch(() => undefined);
    // While Redis is away it is asked again, when the daemon sends it again.
    if (state === undefined) return;
    const isKept = type === 'task.completed' && state?.token === token && state.daemon === this.id && state.status === 'completed';
    this.#acknowledge({ taskId, token }, isKept ? 'kept' : 'refused');
  }

  #acknowledge({ taskId, token }: AttemptName, outcome: 'kept' | 'refused'): void {
    this.#send({ type: 'task.acknowledged', taskId, token, outcome });
  }
}
