import type { AgentRun } from '#shared/agents/index.ts';
import type { AgentResult, HubSettings } from '#shared/config/index.ts';
import { type AttemptName, attemptKey, type HubMessageToSend } from '#shared/daemons/index.ts';
import { acceptAttempt, executeTicket, type ExecuteTicketParts, type Execution } from '#shared/execution/index.ts';
import { readState, type TicketClaim, type Transition } from '#shared/ledger/index.ts';
import { programAccount } from '#shared/providers/index.ts';
import type { TicketData, TicketResult } from '#shared/queue/index.ts';
import { hasAttempt } from '#shared/tasks/index.ts';
import { type NamedAttempts, type Reattached, Reattachment, type ReattachmentOptions } from './reattachment.ts';
import { ReceivedResults } from './received-results.ts';
import { RemoteAttempt, type Report } from './remote-attempt.ts';
import { UnansweredStops } from './unanswered-stops.ts';

/** The parts that run attempts on daemons, without those of one daemon. */
export type HubExecutor = Omit<ExecuteTicketParts, 'isolation' | 'runIsolated' | 'runAgent'>;

export interface DaemonAttemptsOptions extends Pick<ReattachmentOptions, 'tenant' | 'daemon' | 'inSlot' | 'onAdopted'> {
  executor: HubExecutor;
  settings: Pick<HubSettings, 'graceMs' | 'resendMs' | 'acceptMs'>;
  /** Sends to the daemon, if it is connected. */
  send: (message: HubMessageToSend) => void;
  isConnected: () => boolean;
  /** A stopped attempt has left its slot. */
  onAnswered: () => void;
}

/** DaemonAttempts is responsible for the attempts that a daemon runs for this hub, from their execution to their results. */
export class DaemonAttempts {
  readonly #options: DaemonAttemptsOptions;
  readonly #executor: ExecuteTicketParts;
  readonly #attempts = new Map<string, RemoteAttempt>();
  readonly #results: ReceivedResults;
  readonly #unanswered: UnansweredStops;
  readonly #reattachment: Reattachment;
  #cpuIntensive = 0;
  #changes = 0;

  constructor(options: DaemonAttemptsOptions) {
    const { tenant, daemon, executor, send, inSlot, onAdopted, onAnswered, settings } = options;
    this.#options = options;
    this.#executor = {
      ...executor,
      daemon,
      // A process that is lost under it is the hub, which it does not run in.
      isolation: () => undefined,
      runIsolated: () => Promise.resolve({ kind: 'returned' }),
      runAgent: (run, execution) => this.#runAgent(run, execution),
      onSettled: (ref, answer) => this.#onSettled({ taskId: ref.id, token: ref.token }, answer),
    };
    this.#results = new ReceivedResults({ tenant, daemon, ledger: executor.ledger, send });
    this.#unanswered = new UnansweredStops({ resendMs: settings.resendMs, send, onAnswered });
    const [attempts, results] = [this.#attempts, this.#results];
    this.#reattachment = new Reattachment({ tenant, daemon, executor: this.#executor, attempts, results, inSlot, onAdopted });
  }

  /** Counts what changes the list of their tasks. */
  get changes(): number {
    return this.#changes;
  }

  /** The ids of their tasks. */
  get tasks(): string[] {
    return [...this.#attempts.keys()].map((key) => key.slice(0, key.indexOf('/')));
  }

  /** Attempts that ended here, and that the daemon may still run. */
  get unanswered(): number {
    return this.#unanswered.count;
  }

  /** How many of their tasks are CPU-intensive. */
  get cpuIntensive(): number {
    return this.#cpuIntensive;
  }

  async run(ticket: TicketData, how: TicketClaim): Promise<TicketResult> {
    return await executeTicket(this.#executor, ticket, how);
  }

  /** Its connection ended, or another one takes its place. */
  forgetStops(): void {
    this.#unanswered.clear();
  }

  /** The daemon's connection ended: each attempt has the grace. */
  lose(): void {
    this.forgetStops();
    for (const attempt of this.#attempts.values()) attempt.lose();
  }

  /** The daemon may run nothing more: its attempts go on elsewhere at once. */
  failAll(code: string, message: string): void {
    for (const attempt of this.#attempts.values()) attempt.fail(code, message);
  }

  /** Decides which of the attempts that the daemon names go on here. */
  async reattach(named: NamedAttempts): Promise<Reattached> {
    return await this.#reattachment.reattach(named);
  }

  /** The daemon has its welcome: it gets what it may have missed, and attempts that it does not name have failed. */
  resumeAll({ running, finished }: NamedAttempts): void {
    const known = new Set([...running, ...finished].map((name) => attemptKey(name)));
    for (const [key, attempt] of this.#attempts) {
      if (known.has(key)) attempt.accept();
      if (!known.has(key) && attempt.isAccepted) attempt.fail('DAEMON_CRASHED', 'The daemon came back without the attempt');
      else attempt.attach();
    }
  }

  /** Takes what the daemon reports of an attempt. */
  receive(report: Report): void {
    const key = attemptKey(report);
    const attempt = this.#attempts.get(key);
    const isResult = report.type === 'task.completed' || report.type === 'task.failed';
    if (isResult) this.#unanswered.answer(key);
    if (attempt) {
      if (isResult) this.#results.add(key);
      attempt.receive(report);
      return;
    }
    if (this.#results.isSettling(key)) return;
    if (isResult) void this.#results.acknowledgeLate(report);
    else this.#options.send({ type: 'task.cancel', taskId: report.taskId, token: report.token, reason: 'the attempt is over' });
  }

  /** Leaves to another hub the attempts that the daemon has, under leases that stand as long as possible. */
  handOver(): void {
    for (const attempt of this.#attempts.values()) {
      if (attempt.isAccepted) attempt.detach({ isAdopted: false });
    }
  }

  /** Leaves to another hub the attempts that it has adopted. */
  async detachAdopted(): Promise<void> {
    const { ledger, worker } = this.#executor;
    await Promise.all(
      [...this.#attempts].map(async ([key, attempt]) => {
        const [id = ''] = key.split('/');
        const state = await readState(ledger, this.#options.tenant, id);
        if (state && hasAttempt(state.status) && state.worker !== worker) attempt.detach({ isAdopted: true });
      }),
    );
  }

  async #runAgent(run: AgentRun, execution: Execution): Promise<AgentResult> {
    const { settings, send, isConnected } = this.#options;
    const { ledger } = this.#executor;
    const { graceMs, resendMs, acceptMs } = settings;
    const { id: taskId, token } = execution.attempt.ref;
    const key = attemptKey({ taskId, token });
    const attempt = new RemoteAttempt({
      run,
      execution,
      send,
      accept: () => acceptAttempt(ledger, execution),
      graceMs,
      resendMs,
      acceptMs,
    });
    this.#attempts.set(key, attempt);
    this.#reattachment.onStarted(key);
    if (!isConnected()) attempt.lose();
    const isIntensive = execution.body.requirements?.cpuIntensive === true ? 1 : 0;
    this.#cpuIntensive += isIntensive;
    this.#changes += 1;
    try {
      // What runs already was admitted at the hub before.
      if (execution.isResumed) return await attempt.run();
      const { task, isOperators } = run;
      const account = programAccount({ agent: task.agent, tenant: task.tenant, isOperators });
      return await execution.account.run(account, (onProvider) => attempt.run(onProvider));
    } finally {
      this.#cpuIntensive -= isIntensive;
      this.#attempts.delete(key);
      this.#changes += 1;
      const reason = attempt.unansweredStop;
      if (reason !== null && isConnected()) this.#unanswered.add({ taskId, token }, reason);
    }
  }

  #onSettled(name: AttemptName, settled: Transition | 'lost'): void {
    // A stopped attempt may end before its daemon answers.
    this.#attempts.get(attemptKey(name))?.fail('DAEMON_UNRESPONSIVE', 'The attempt ended without its daemon');
    this.#results.onSettled(name, settled);
  }
}
