import { type AgentRun, batchModel, type FleetModels, type FunctionLoop } from '../../agents/index.ts';
import type {
  AgentAttachment,
  AgentContext,
  AgentLog,
  AgentTask,
  AgentTurn,
  DelegateCall,
  Delegated,
  Question,
} from '../../config/index.ts';
import type { Ledger } from '../../ledger/index.ts';
import { retryWhileAway } from '../../redis/index.ts';
import { readResponseChain, readTranscript } from '../../sessions/index.ts';
import { type TaskBody, type TaskState, turnsOf } from '../../tasks/index.ts';
import { activeTraceparent, attemptTraceparent } from '../../log/index.ts';
import { publicTenantId } from '../../tenants/index.ts';
import { InputChannel } from './attempt-input.ts';
import type { Execution } from '../execution.ts';

export interface ContextParts {
  ledger: Ledger;
  /** Opens the models that an agent asks its context for. */
  fleetModels: FleetModels;
  /** Runs models with tools for it. */
  functionLoop: FunctionLoop;
}

/**
 * AttemptContext is responsible for what an agent gets besides its task. What an agent asks for is made then; many ask for little. Functions
 * are fields, so that agents may take them out of the context. Getters belong to the class: for each object with getters of its own V8 makes a
 * hidden class, which keeps them, and with them the whole attempt, until the old generation is collected.
 */
export class AttemptContext implements AgentContext {
  readonly #parts: ContextParts;
  readonly #execution: Execution;
  readonly task: AgentTask;
  /** The messages that are part of its prompt, by id. */
  readonly #given: readonly string[];
  #turns: Promise<readonly AgentTurn[]> | undefined;
  #channel: InputChannel | undefined;

  /** Has calls of its models go by batches, where its task has time. */
  readonly #callBatch: AgentRun['callBatch'];

  constructor(
    parts: ContextParts,
    execution: Execution,
    { task, given, callBatch }: { task: AgentTask; given: readonly string[]; callBatch?: AgentRun['callBatch'] },
  ) {
    this.#callBatch = callBatch;
    this.task = task;
    this.#parts = parts;
    this.#execution = execution;
    this.#given = given;
  }

  get signal(): AbortSignal {
    return this.#execution.attempt.signal;
  }

  get attachments(): readonly AgentAttachment[] {
    return this.#execution.files.attachments;
  }

  get log(): AgentLog {
    return this.#execution.taskLog.agentLog;
  }

  get trace(): AgentContext['trace'] {
    const { body, attempt } = this.#execution;
    return { traceparent: activeTraceparent() ?? attemptTraceparent(body, attempt.ref.token) };
  }

  readonly write: AgentContext['write'] = (text) => this.#execution.output.write(text);

  readonly progress: AgentContext['progress'] = (note, percent) => this.#execution.taskLog.progress(note, percent);

  readonly reportUsage: AgentContext['reportUsage'] = (usage) => this.#execution.usage.report(usage);

  readonly step: AgentContext['step'] = (name, work, options) => this.#execution.journal.step(name, work, options);

  readonly once: AgentContext['once'] = (key) => this.#execution.journal.once(key);

  readonly sleep: AgentContext['sleep'] = async (time) => await this.#execution.journal.waits.sleep(time);

  readonly waitFor: AgentContext['waitFor'] = async (name, options) => await this.#execution.journal.waits.waitFor(name, options);

  readonly ask: AgentContext['ask'] = async <Answer>(question: Question<Answer>) => await this.#execution.journal.waits.ask(question);

  readonly delegate = async <Result>(...call: DelegateCall): Promise<Delegated<Result>> =>
    await this.#execution.journal.waits.delegate<Result>(call);

  readonly delegateAll: AgentContext['delegateAll'] = async (calls) => await this.#execution.journal.waits.delegateAll(calls);

  readonly random: AgentContext['random'] = () => this.#execution.journal.random();

  readonly input: AgentContext['input'] = () => this.#execution.journal.inputs.takeInput(this.#inputs);

  readonly history: AgentContext['history'] = () => (this.#turns ??= this.#readTurns());

  readonly attach: AgentContext['attach'] = (name, data, mediaType) => this.#execution.files.attach(name, data, mediaType);

  readonly now: AgentContext['now'] = () => this.#execution.journal.now();

  readonly model: AgentContext['model'] = (name) => {
    const opened = this.#parts.fleetModels(this.#execution.models, { name, traceparent: this.trace.traceparent });
    return batchModel(this.#batchRun, opened);
  };

  readonly agent: AgentContext['agent'] = async (options) => {
    const { attempt } = this.#execution;
    const own = { inputArrived: () => attempt.inputArrived, diagnose: () => undefined };
    return await this.#parts.functionLoop({ ...own, ...this.#batchRun }, options);
  };

  get #batchRun(): Parameters<typeof batchModel>[0] {
    const { models, journal } = this.#execution;
    return { models, journal, context: this, ...(this.#callBatch && { callBatch: this.#callBatch }) };
  }

  /** Of its session, and then of its request. */
  async #readTurns(): Promise<readonly AgentTurn[]> {
    const { id, request } = this.#execution.body;
    return [...(await this.#takeHistory()), ...turnsOf(request, id)];
  }

  async #takeHistory(): Promise<readonly AgentTurn[]> {
    if (this.#execution.body.session === null) return [];
    return await this.#execution.journal.inputs.takeHistory(() => readHistory(this.#parts.ledger, this.#execution));
  }

  get #inputs(): InputChannel {
    const { attempt, files, span } = this.#execution;
    this.#channel ??= new InputChannel({ ledger: this.#parts.ledger, attempt, files, span, given: this.#given });
    return this.#channel;
  }
}

async function readHistory(ledger: Ledger, { body, attempt }: Execution): Promise<readonly AgentTurn[]> {
  return await retryWhileAway(() => readEarlierTurns(ledger, body), { signal: attempt.signal });
}

/** Of its session; of a response that is no turn of a conversation those that lead to it. */
async function readEarlierTurns(ledger: Ledger, { id, tenant, session, request }: TaskBody): Promise<readonly AgentTurn[]> {
  if (session === null) return [];
  if (request?.kind !== 'response' || request.conversation !== undefined)
    return await readTranscript(ledger, tenant, session, { before: id });
  return request.previous === undefined ? [] : await readResponseChain(ledger, tenant, request.previous.task);
}

/** What an agent sees of its task; `input` is its prompt. */
export function agentTask(body: TaskBody, state: TaskState, input: string): AgentTask {
  return {
    id: body.id,
    tenant: publicTenantId(body.tenant),
    agent: body.agent,
    input,
    system: body.system,
    session: body.session,
    source: body.source,
    visitor: body.visitor,
    context: body.context ?? {},
    metadata: body.metadata ?? {},
    correlationId: body.correlationId,
    attempt: state.attempt,
  };
}
