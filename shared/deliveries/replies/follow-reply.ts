import { hasPlainOutput, type Settings } from '../../config/index.ts';
import { SUSPENDED_GATES, type WaitGate } from '../../errors/index.ts';
import { watchTask } from '../../events/index.ts';
import { parseNotice, readState, readTask } from '../../ledger/index.ts';
import { isTerminal, parseTimeline, type Task } from '../../tasks/index.ts';
import type { DeliveryContext, HeldDelivery } from '../held-delivery.ts';
import { callPlatform, type ChatPort, DeliveryRefused } from './chat-port.ts';
import type { PartSender } from './part-sender.ts';
import { QuestionSender } from './question-sender.ts';
import { hasEarlierReply } from './reply-order.ts';
import { chatText, OutputReader } from './reply-text.ts';

export interface FollowReplyOptions {
  held: HeldDelivery;
  port: ChatPort;
  thread: string;
  sender: PartSender;
  signal: AbortSignal;
}

/**
 * - `ended`: the task has; `text` is what its last attempt wrote, and `quietMs` how long the platform asked to wait
 * - `left`: this process stops, or makes room for others; due again at `at`
 * - `gone`: there is no such task any more
 */
export type Followed = { kind: 'ended'; task: Task; text: string; quietMs: number } | { kind: 'left'; at: number } | { kind: 'gone' };

/** A growing answer that its platform refuses waits this long before the next try, twice as long each time. */
const FIRST_QUIET_MS = 2000;
const MAX_QUIET_MS = 30_000;
/** Between two checks whether an earlier reply was sent: while the answer is written, and after. Mostly it is woken before. */
const ORDER_POLL_MS = 300;
const ORDER_RETRY_MS = 2000;
/** The longest that a delivery stays away, as a multiple of `stepAsideMs`. */
const MAX_STEPS_ASIDE = 8;
const SECOND = 1000;

/** Where nothing happens until its time, or until a person does something. */
const QUIET_GATES: ReadonlySet<string | undefined> = new Set([
  ...SUSPENDED_GATES,
  ...(['time', 'daemon', 'interruptions', 'failures', 'repeats', 'agent', 'paused'] as const satisfies WaitGate[]),
]);

/**
 * ReplyFollower is responsible for showing a task in its chat until it ends: the typing sign, how long it waited, and the growing answer.
 * Refusals here only slow it down: whether the delivery succeeds is decided after the end.
 */
export class ReplyFollower {
  readonly #context: DeliveryContext;
  readonly #options: FollowReplyOptions;
  readonly #reader: OutputReader;
  readonly #questions: QuestionSender;
  /** The text that the chat was shown last. */
  #shown = '';
  #text = '';
  /** Until when nothing is shown, monotonic ms. */
  #quietUntil = 0;
  #refusals = 0;
  /** Until when an earlier reply is waited for, monotonic ms. */
  #heldUntil = 0;

  constructor(context: DeliveryContext, options: FollowReplyOptions) {
    const { tenant, task } = options.held.delivery;
    this.#context = context;
    this.#options = options;
    this.#reader = new OutputReader(context.ledger, tenant, task);
    this.#questions = new QuestionSender(context, options);
  }

  /** Throws `DeliveryRefused` of kind `gone`, and `DeliveryLost`. */
  async follow(): Promise<Followed> {
    const { events, ledger } = this.#context;
    const { held, signal } = this.#options;
    const { tenant, task: id } = held.delivery;
    const watch = watchTask(events, tenant, id, signal);
    try {
      let task = await readTask(ledger, tenant, id);
      for (;;) {
        if (task === null) return { kind: 'gone' };
        const end = await this.#check(task);
        if (end !== null) return end;
        const { ms, ignoreOutput } = this.#pause();
        await watch.next(ms, ignoreOutput);
        task = await this.#refresh(task);
      }
    } finally {
      watch.stop();
    }
  }

  /** The task as it is by now: its input never changes, and its output is in the record only once it ended. */
  async #refresh(task: Task): Promise<Task | null> {
    const { tenant, id } = task.body;
    const state = await readState(this.#context.ledger, tenant, id);
    if (state === null || isTerminal(state.status)) return await readTask(this.#context.ledger, tenant, id);
    return { ...task, state };
  }

  /** Checks the task once. Returns how the following ended; null while it has not. */
  async #check(task: Task): Promise<Followed | null> {
    const { signal, port, thread } = this.#options;
    const { status, gate } = task.state;
    await this.#questions.follow(task);
    if (status === 'running' || isTerminal(status)) await this.#notice(task);
    if (isTerminal(status)) {
      if (await this.#isBehind(task)) return { kind: 'left', at: this.#context.clock.now() + ORDER_RETRY_MS };
      const quietMs = Math.max(0, this.#quietUntil - this.#context.clock.monotonic());
      return { kind: 'ended', task, text: await this.#reader.read(), quietMs };
    }
    if (signal.aborted) return { kind: 'left', at: 0 };
    await this.#forgetEnd();
    await this.#explainWait(task);
    // Nobody is at it, and that may take days.
    if (!QUIET_GATES.has(gate)) this.#context.typing.show(port, thread);
    if (status === 'running') await this.#stream(task);
    else if (this.#context.isCrowded(task.body.tenant)) return { kind: 'left', at: this.#context.clock.now() + this.#stepAsideMs(task) };
    return null;
  }

  /** A task that was opened again is followed to its next end, which then needs no delivery of its own. */
  async #forgetEnd(): Promise<void> {
    const { held } = this.#options;
    if (held.delivery.endedAt !== null) await held.save({ endedAt: null });
  }

  async #stream(task: Task): Promise<void> {
    if (!this.#options.port.canEdit) return;
    this.#text = await this.#reader.read();
    if (this.#text.trim() === '' || this.#text === this.#shown || this.#context.clock.monotonic() < this.#quietUntil) return;
    if (await this.#isBehind(task)) {
      this.#heldUntil = this.#context.clock.monotonic() + ORDER_POLL_MS;
      return;
    }
    try {
      await this.#options.sender.show(chatText(this.#text, isPlainAnswer(this.#context.ledger.settings, task)), false);
      this.#shown = this.#text;
      this.#refusals = 0;
    } catch (error) {
      if (!(error instanceof DeliveryRefused) || error.kind === 'gone') throw error;
      this.#backOff(error);
    }
  }

  /** Whether another answer has to come first. Once an answer has begun, it stands where it belongs. */
  async #isBehind(task: Task): Promise<boolean> {
    return !this.#options.sender.hasShown && (await hasEarlierReply(this.#context.ledger, task, this.#context.clock.now()));
  }

  #backOff({ kind, retryAfterMs }: DeliveryRefused): void {
    const { maxThrottleMs } = this.#context.ledger.settings.deliveries;
    const backoffMs = Math.min(FIRST_QUIET_MS * 2 ** this.#refusals, MAX_QUIET_MS);
    this.#refusals += 1;
    // A message that may have been posted is not posted again: the rest of the answer comes with its end.
    const quietMs = kind === 'unknown' ? Number.POSITIVE_INFINITY : Math.min(retryAfterMs ?? backoffMs, maxThrottleMs);
    this.#quietUntil = this.#context.clock.monotonic() + quietMs;
  }

  /** How long until the next check, and whether output ends the wait: not while nothing more may be shown. */
  #pause(): { ms: number; ignoreOutput: boolean } {
    const { clock, typing, ledger } = this.#context;
    const { port, sender, thread } = this.#options;
    const pollMs = Math.min(ledger.settings.deliveries.pollMs, typing.everyMs(port));
    const quietMs = Math.max(this.#quietUntil - clock.monotonic(), this.#heldUntil - clock.monotonic(), port.quietMs(thread), 0);
    if (!port.canEdit) return { ms: pollMs, ignoreOutput: true };
    const hasMore = this.#text !== this.#shown;
    return quietMs > 0 && (hasMore || sender.hasShown)
      ? { ms: Math.min(quietMs, pollMs), ignoreOutput: true }
      : { ms: pollMs, ignoreOutput: false };
  }

  /** Posts once how long the message waited, after the answers before it. A failure is not tried again. */
  async #notice(task: Task): Promise<void> {
    const { body, state } = task;
    const { held, port, thread } = this.#options;
    const { verbose, noticeAfterMs } = this.#context.ledger.settings.deliveries;
    const waitedMs = (firstStartOf(state) ?? 0) - Math.max(state.createdAt, body.scheduledFor ?? 0);
    if (!verbose || waitedMs < noticeAfterMs || held.delivery.isNoticed || held.delivery.parts.length > 0) return;
    if (await this.#isBehind(task)) return;
    await held.save({ isNoticed: true });
    const text = `queued for ${(waitedMs / SECOND).toFixed(1)} s`;
    await callPlatform(() => port.post(thread, text)).catch(() => undefined);
  }

  /** Posts once what the task waits for, when only a person can change that. A failure is not tried again. */
  async #explainWait(task: Task): Promise<void> {
    const { held, port, thread } = this.#options;
    const notice = waitNoticeOf(task.state);
    if (notice === null || held.delivery.waitNotice === notice.id) return;
    await held.save({ waitNotice: notice.id });
    await callPlatform(() => port.post(thread, `(${notice.detail})`)).catch(() => undefined);
  }

  /** A waiting task needs no slot. The delivery stays away for as long as the task has waited, within bounds. */
  #stepAsideMs({ state }: Task): number {
    const { stepAsideMs } = this.#context.ledger.settings.deliveries;
    const waitedMs = this.#context.clock.now() - state.createdAt;
    return Math.min(Math.max(waitedMs, stepAsideMs), stepAsideMs * MAX_STEPS_ASIDE);
  }
}

/** What a task waits for that only a person can change, once for each time that it comes there; null for anything else. */
function waitNoticeOf({ gate, notice, token, log }: Task['state']): { id: string; detail: string } | null {
  if (gate === 'daemon' && notice !== undefined) return { id: notice, detail: parseNotice(notice).facts.detail };
  const reason = gate === 'interruptions' ? parseTimeline(log).at(-1)?.note : undefined;
  return reason == null ? null : { id: `interruptions/${token}`, detail: `${reason}; it waits until somebody retries it` };
}

export type AgentSettings = Pick<Settings, 'agents'>;

/** Whether the task's agent is a program whose output is no Markdown. Such agents come from the configuration only. */
export function isPlainAnswer({ agents }: AgentSettings, { body: { agent } }: Pick<Task, 'body'>): boolean {
  const definition = Object.hasOwn(agents, agent) ? agents[agent] : undefined;
  return definition !== undefined && hasPlainOutput(definition);
}

/** Between its first attempt and the current one a task did not wait for its turn, but for a retry. */
function firstStartOf({ log, startedAt }: Task['state']): number | undefined {
  return parseTimeline(log).find(({ status }) => status === 'running')?.at ?? startedAt;
}
