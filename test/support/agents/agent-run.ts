import type { AgentDefinition, AgentKind } from '#shared/config/agent-definitions.ts';
import type { AgentAttachment, AgentInput, AgentTask, AgentTurn, AgentUsage, Question, StepWork } from '#shared/config/define-config.ts';
import type { AgentRun, DefinitionOf, Diagnostics } from '#shared/agents/agent-kind.ts';
import { noJournal, type RunJournal } from '#shared/agents/loop/run-journal.ts';
import { AttemptModels } from '#shared/models/attempt-models.ts';
import { EndpointRequests } from '#shared/models/circuits/endpoint-requests.ts';
import { openGate } from './open-gate.ts';
import { expect } from 'vitest';
import { classifyFailure, TaskFailure } from '#shared/errors/task-failure.ts';

export const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

const ignore = (): void => undefined;

export interface AgentRunOptions {
  readonly task?: Partial<AgentTask>;
  /** Called with each piece of output before it is kept; what it throws, `write` throws. */
  readonly onWrite?: (text: string) => void;
  /** What its session said before. */
  readonly history?: readonly AgentTurn[];
  readonly attachments?: readonly AgentAttachment[];
  /** What it did; by default nothing is kept. */
  readonly journal?: RunJournal;
  /** Of the attempt; defaults to 1. */
  readonly token?: number;
}

/** An attempt to hand to a runner, and what a test sees of it. */
export interface ObservedRun<Definition extends AgentDefinition> {
  readonly run: AgentRun<Definition>;
  /** Every piece that was written, in order. */
  readonly written: string[];
  readonly notes: (string | undefined)[];
  /** What it says that it used, in order. */
  readonly usages: AgentUsage[];
  /** What the runner found out about a failure. */
  readonly diagnostics: Diagnostics;
  readonly warnings: unknown[];
  readonly abort: (reason: Error) => void;
  /** A message arrives for it. */
  readonly say: (text: string) => void;
  /** Messages that it has not taken. */
  readonly untaken: () => number;
  /** Resolves with the first piece written. */
  readonly firstWrite: Promise<string>;
}

/** An attempt of this definition, with everything that a worker would give it. */
export function observeRun<Kind extends AgentKind>(
  definition: DefinitionOf<Kind>,
  options: AgentRunOptions = {},
): ObservedRun<DefinitionOf<Kind>> {
  const controller = new AbortController();
  const first = Promise.withResolvers<string>();
  const written: string[] = [];
  const notes: (string | undefined)[] = [];
  const usages: AgentUsage[] = [];
  const warnings: unknown[] = [];
  const diagnostics: Diagnostics = {};
  const messages: AgentInput[] = [];
  let arrived = Promise.withResolvers<void>();
  const task: AgentTask = {
    id: '01JD0000000000000000000000',
    tenant: 'acme',
    agent: 'tested',
    input: 'hello',
    session: null,
    source: 'api',
    visitor: null,
    system: null,
    context: {},
    metadata: {},
    correlationId: null,
    attempt: 1,
    ...options.task,
  };
  const context = {
    task,
    input: () => {
      arrived = Promise.withResolvers();
      return Promise.resolve(messages.splice(0));
    },
    history: () => Promise.resolve(options.history ?? []),
    signal: controller.signal,
    write: (text: string) => {
      options.onWrite?.(text);
      written.push(text);
      first.resolve(text);
    },
    progress: (note?: string) => void notes.push(note),
    reportUsage: (used: AgentUsage) => void usages.push(used),
    log: { debug: ignore, info: ignore, error: ignore, warn: (fields: unknown) => void warnings.push(fields) },
    model: () => expect.unreachable('this agent asks for no model'),
    now: () => Date.now(),
    random: () => 0.5,
    sleep: () => Promise.resolve(),
    waitFor: () => Promise.resolve(null),
    delegate: () => expect.unreachable('this agent has no sub-tasks'),
    delegateAll: () => expect.unreachable('this agent has no sub-tasks'),
    agent: () => expect.unreachable('this agent runs no model with tools'),
    once: (key: string) => key,
    step: async <T>(_name: string, work: StepWork<T>): Promise<T> => await work({ signal: controller.signal }),
    ask: <Answer>({ default: answer }: Question<Answer>) => Promise.resolve((answer ?? null) as Answer),
    trace: { traceparent: TRACEPARENT },
    attachments: options.attachments ?? [],
    attach: () => Promise.resolve(),
  };
  return {
    run: {
      task,
      token: options.token ?? 1,
      definition,
      isOperators: true,
      context,
      models: new AttemptModels({ ...openGate(), signal: () => controller.signal, onUsage: (used) => void usages.push(used) }),
      requests: new EndpointRequests(openGate()),
      inputArrived: () => arrived.promise,
      journal: options.journal ?? noJournal(() => controller.signal),
      diagnose: (found) => Object.assign(diagnostics, found),
      untilStopped: (work) => untilAborted(work, controller.signal),
    },
    written,
    notes,
    usages,
    diagnostics,
    warnings,
    abort: (reason) => controller.abort(reason),
    say: (text) => {
      messages.push({ id: `01JD000000000000000000000${messages.length + 1}`, text, user: null, attachments: [] });
      arrived.resolve();
    },
    untaken: () => messages.length,
    firstWrite: first.promise,
  };
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  return await Promise.race([work, aborted]);
}

interface ObservedFailure {
  readonly code: string;
  readonly class: string;
  readonly message: string;
  readonly details: Record<string, unknown> | undefined;
  readonly retryAfterMs: number | undefined;
}

/** The failure that a runner rejects with; fails the test when it resolves, or rejects with anything else. */
export async function failureOf(attempt: Promise<unknown>): Promise<ObservedFailure> {
  const error = await attempt.then(
    (answer) => expect.unreachable(`expected a failure, got ${JSON.stringify(answer)}`),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TaskFailure);
  const { code, message, details, retryAfterMs } = error as TaskFailure;
  return { code, class: classifyFailure(code), message, details, retryAfterMs };
}
