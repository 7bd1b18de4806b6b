import type { z } from 'zod';
import type { AgentUsage } from '../../../../config/index.ts';
import type { TranscriptEvent } from '../preset.ts';
import { type NOTIFICATIONS, usageOf } from './codex-events.ts';
import { usageSince } from './codex-turn.ts';

/** Threads of one run: its own, and those of agents that it starts. What more of them use is not counted. */
const MAX_THREADS = 200;

type Updated = z.infer<(typeof NOTIFICATIONS)['thread/tokenUsage/updated']>;

/**
 * CodexUsage is responsible for each call of a model counting once. Codex says again and again what a thread has used in all, also of turns before, and repeats
 * it where nothing is new.
 */
export class CodexUsage {
  readonly #threads = new Map<string, AgentUsage>();
  /** Of the thread that goes on, before this run; null where that is not known. */
  readonly #usedBefore: AgentUsage | null;
  #thread: string | undefined;
  #model: string | undefined;
  #isResumed = false;

  constructor(usedBefore: AgentUsage | null) {
    this.#usedBefore = usedBefore;
  }

  begin(thread: string, { model, isResumed }: { readonly model: string | undefined; readonly isResumed: boolean }): void {
    this.#thread = thread;
    this.#model = model;
    this.#isResumed = isResumed;
  }

  /** `turn`: that of this run. What is said of another one is what its thread had used before. */
  read({ threadId, turnId, tokenUsage }: Updated, turn: string | undefined): TranscriptEvent[] {
    const isOwn = threadId === this.#thread;
    if (this.#threads.size >= MAX_THREADS && !this.#threads.has(threadId)) return [];
    const [total, last] = [usageOf(tokenUsage.total), usageOf(tokenUsage.last)];
    const before = this.#threads.get(threadId) ?? (isOwn && this.#isResumed ? this.#before(total, last) : null);
    this.#threads.set(threadId, total);
    const session: TranscriptEvent[] = isOwn ? [{ kind: 'session-total', usage: total }] : [];
    return isOwn && turnId !== turn ? session : [...this.#used(total, before), ...session];
  }

  #used(total: AgentUsage, before: AgentUsage | null): TranscriptEvent[] {
    const used = usageSince(total, before);
    if (used.inputTokens === 0 && used.outputTokens === 0) return [];
    return [{ kind: 'usage', usage: { ...(this.#model !== undefined && { model: this.#model }), ...used } }];
  }

  /** Attempts before have reported each call as it was made, and may have kept that of an earlier one. */
  #before(total: AgentUsage, last: AgentUsage): AgentUsage | null {
    const kept = this.#usedBefore;
    const untilLast = usageSince(total, last);
    return kept !== null && kept.inputTokens >= untilLast.inputTokens ? kept : untilLast;
  }
}
