import type { AgentRun } from '#shared/agents/index.ts';
import type { AgentInput, AgentResult } from '#shared/config/index.ts';
import type { DaemonMessage, HubMessageToSend } from '#shared/daemons/index.ts';
import { TaskFailure } from '#shared/errors/index.ts';
import type { Execution, StopReason } from '#shared/execution/index.ts';
import { executeMessage } from './execute-message.ts';
import { failureOf, resultOf, usesOf } from './read-report.ts';
import { RemoteQuestion } from './remote-question.ts';

export interface RemoteAttemptOptions {
  run: AgentRun;
  execution: Execution;
  /** Sends to the daemon, if it is connected. */
  send: (message: HubMessageToSend) => void;
  /** The daemon has accepted it. Resolves once that is written. */
  accept: () => Promise<void>;
  /** How long the daemon may be away. */
  graceMs: number;
  /** Between two sendings of what was not acknowledged. */
  resendMs: number;
  /** How long the daemon may take to accept it while it is connected. Defaults to no bound. */
  acceptMs?: number;
}

/** What a daemon reports of an attempt. */
export type Report = DaemonMessage<
  'task.accepted' | 'task.progress' | 'task.usage' | 'task.output' | 'task.ask' | 'task.completed' | 'task.failed'
>;

/**
 * RemoteAttempt is responsible for one attempt on a daemon, from `task.execute` to its result: it sends again what the daemon did not
 * acknowledge, and outlives the daemon's connection for a grace.
 */
export class RemoteAttempt {
  readonly #options: RemoteAttemptOptions;
  readonly #ended = Promise.withResolvers<AgentResult>();
  /** What went into its run, for a daemon that may have missed it. */
  readonly #inputs: AgentInput[] = [];
  readonly #question: RemoteQuestion;
  #execute: HubMessageToSend | undefined;
  #cancel: Extract<HubMessageToSend, { type: 'task.cancel' }> | undefined;
  #isAccepted: boolean;
  #accepting: Promise<void> | undefined;
  #isOver = false;
  /** Whether its daemon is not connected. */
  #isAway = false;
  #hasResult = false;
  /** What its daemon keeps of it, by the last message. */
  #left: DaemonMessage<'task.completed'>['workspace'];
  #onProvider: () => void = () => undefined;
  #graceTimer: NodeJS.Timeout | undefined;
  #acceptTimer: NodeJS.Timeout | undefined;
  #resendTimer: NodeJS.Timeout | undefined;

  constructor(options: RemoteAttemptOptions) {
    this.#options = options;
    const { run, execution, send } = options;
    const { id: taskId, token } = execution.attempt.ref;
    this.#isAccepted = execution.isResumed === true;
    this.#question = new RemoteQuestion({ name: { taskId, token }, checkpoint: run.checkpoint, send });
    // An end without anybody who waits for it is no error.
    this.#ended.promise.catch(() => undefined);
  }

  /** The last output that arrived. */
  get seq(): number {
    return this.#options.execution.output.seq;
  }

  get isAccepted(): boolean {
    return this.#isAccepted;
  }

  /** Why it was stopped, when its daemon runs it and has not answered the stop; else null. */
  get unansweredStop(): string | null {
    return this.#isAccepted && !this.#hasResult ? (this.#cancel?.reason ?? null) : null;
  }

  /** Runs to the daemon's result. Calls `onProvider` when its program's provider answers. Rejects as runners of agents do. */
  async run(onProvider: () => void = () => undefined): Promise<AgentResult> {
    const { execution, resendMs } = this.#options;
    this.#onProvider = onProvider;
    const { attempt } = execution;
    try {
      if (!this.#isAccepted) this.#execute = await this.#begin();
      attempt.onStop((stop) => this.#stop(stop));
      this.#resendTimer = setInterval(() => this.#sendPending(), resendMs);
      this.#sendPending();
      this.#awaitAcceptance();
      if (attempt.takesInput) void this.#passInput().catch((error: unknown) => this.#ended.reject(error));
      return await this.#ended.promise;
    } finally {
      await this.#noteWorkspace();
      this.#isOver = true;
      this.#question.close();
      // What it ended as follows what it began as.
      await this.#accepting?.catch(() => undefined);
      clearTimeout(this.#graceTimer);
      clearTimeout(this.#acceptTimer);
      clearInterval(this.#resendTimer);
    }
  }

  /** What the daemon keeps from now on is known before it gets the task: it removes what is not. */
  async #begin(): Promise<HubMessageToSend> {
    const { run, execution } = this.#options;
    const { sessions, state } = execution;
    const message = await executeMessage(run, execution);
    if (message.workspace) await sessions.noteOnDaemon(state.daemon ?? '', { bytes: null, changes: null });
    return message;
  }

  async #noteWorkspace(): Promise<void> {
    const { execution, run } = this.#options;
    const { bytes, changes = null } = this.#left ?? {};
    if (bytes === undefined) return;
    await execution.sessions.noteOnDaemon(execution.state.daemon ?? '', { bytes, changes }).catch((error: unknown) => {
      // It was stopped while Redis is away.
      run.context.log.debug({ err: error }, 'the working folder on a daemon could not be noted');
    });
  }

  /** A daemon that beats and accepts nothing would keep its task until the timeout. */
  #awaitAcceptance(): void {
    clearTimeout(this.#acceptTimer);
    const { acceptMs } = this.#options;
    if (this.#isAccepted || this.#isAway || acceptMs === undefined) return;
    this.#acceptTimer = setTimeout(() => {
      this.#sendCancel('it was not accepted in time');
      this.fail('DAEMON_UNRESPONSIVE', `The daemon did not accept the task within ${acceptMs} ms`);
    }, acceptMs);
  }

  /** The daemon is connected, again: it gets what it may have missed. */
  attach(): void {
    clearTimeout(this.#graceTimer);
    this.#isAway = false;
    this.#sendPending();
    this.#awaitAcceptance();
    for (const input of this.#inputs) this.#sendInput(input);
  }

  /** The daemon's connection ended. It has the grace to come back, here or at another hub. */
  lose(): void {
    clearTimeout(this.#graceTimer);
    clearTimeout(this.#acceptTimer);
    this.#isAway = true;
    this.#graceTimer = setTimeout(
      () => this.fail('DAEMON_DISCONNECTED', 'The daemon was disconnected and did not come back in time'),
      this.#options.graceMs,
    );
  }

  /** Ends it through the daemon's fault. */
  fail(code: string, message: string): void {
    this.#ended.reject(new TaskFailure(code, message));
  }

  /** Goes on at another hub that has adopted it, or will. */
  detach({ isAdopted }: { isAdopted: boolean }): void {
    this.#options.execution.attempt.stop({ kind: 'detached', isAdopted });
  }

  /** The daemon says so, names it among what it runs, or reports something of it. */
  accept(): void {
    if (this.#isAccepted) return;
    this.#isAccepted = true;
    clearTimeout(this.#acceptTimer);
    this.#accepting = this.#options.accept();
    this.#accepting.catch((error: unknown) => this.#ended.reject(error));
  }

  receive(report: Report): void {
    this.accept();
    if (report.type === 'task.completed' || report.type === 'task.failed') [this.#hasResult, this.#left] = [true, report.workspace];
    try {
      this.#apply(report);
    } catch (error) {
      // Its output is too large, or it was stopped meanwhile.
      if (!this.#options.execution.attempt.stopped) this.#sendCancel(error instanceof Error ? error.message : 'it was refused');
      this.#ended.reject(error);
    }
  }

  #apply(report: Report): void {
    const { run, execution } = this.#options;
    switch (report.type) {
      case 'task.accepted':
        return;
      case 'task.progress':
        return run.context.progress(report.note, report.percent ?? undefined);
      case 'task.usage':
        this.#onProvider();
        return execution.usage.reportTotal(usesOf(report.usage));
      case 'task.output':
        return this.#write(report);
      case 'task.ask':
        return this.#question.receive(report.seq);
      case 'task.completed':
        if (report.usage) execution.usage.endTotal(usesOf(report.usage));
        return this.#ended.resolve(resultOf(report));
      case 'task.failed':
        return this.#fail(report);
    }
  }

  /** Writes a piece of output, and a line in the task's log where pieces before it never came. */
  #write({ seq, text }: DaemonMessage<'task.output'>): void {
    const { run, execution } = this.#options;
    const missing = seq - execution.output.seq - 1;
    if (missing > 0) run.context.log.warn({ missing, before: seq }, 'Output is missing: the daemon left out pieces of it');
    execution.output.writeEntry(seq, text);
  }

  #fail(report: DaemonMessage<'task.failed'>): void {
    if (report.usage) this.#options.execution.usage.endTotal(usesOf(report.usage));
    this.#ended.reject(failureOf(report, Date.now()));
  }

  #stop(stop: StopReason): void {
    if (stop.kind === 'detached') {
      this.#ended.reject(new Error('the attempt goes on at another hub'));
      return;
    }
    // Its daemon has ended it.
    if (stop.kind === 'suspended') return;
    this.#sendCancel(reasonOf(stop));
    // What is sent meanwhile counts for nothing, so nobody waits for it.
    if (stop.kind === 'lease-lost' || !this.#isAccepted) this.#ended.reject(new Error('the attempt was stopped'));
  }

  #sendCancel(reason: string): void {
    const { id: taskId, token } = this.#options.execution.attempt.ref;
    this.#cancel = { type: 'task.cancel', taskId, token, reason };
    this.#options.send(this.#cancel);
  }

  /** What the daemon has to answer and did not. */
  #sendPending(): void {
    if (this.#cancel) this.#options.send(this.#cancel);
    else if (!this.#isAccepted && this.#execute) this.#options.send(this.#execute);
  }

  async #passInput(): Promise<void> {
    const { run, execution } = this.#options;
    while (!this.#isOver) {
      await Promise.race([run.inputArrived(), this.#ended.promise]);
      if (this.#isOver || execution.attempt.stopped) return;
      for (const input of await run.context.input()) {
        this.#inputs.push(input);
        this.#sendInput(input);
      }
    }
  }

  #sendInput({ id, text }: AgentInput): void {
    const { id: taskId, token } = this.#options.execution.attempt.ref;
    this.#options.send({ type: 'task.input', taskId, token, id, text });
  }
}

/** In words, for the daemon. */
function reasonOf(stop: StopReason): string {
  if (stop.kind === 'cancel') return stop.reason;
  if (stop.kind === 'failed') return stop.failure.message;
  return stop.kind === 'preempt' ? `it makes room for task ${stop.by}` : stop.kind;
}
