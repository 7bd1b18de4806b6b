import { isTerminal, type TaskStatus, type TaskUsage } from '../tasks/index.ts';
import { createHistogram, type Histogram, observe } from './histogram.ts';
import { addOne, type CountedTask, type Series, seriesOf } from './series.ts';

/** How an attempt ended. */
export interface CountedAttempt {
  agent: string;
  result: 'success' | 'failed' | 'timeout' | 'cancelled' | 'interrupted' | 'suspended';
  /** Of its failure; empty for none. */
  code: string;
  /** How long it held a slot; null when that is not known. */
  ranMs: number | null;
  /** The status that its task has now. */
  status: TaskStatus;
  usage: TaskUsage | null;
}

/** Time that attempts of one agent and band held slots. */
interface ServiceTime {
  attempts: number;
  totalMs: number;
}

/** How attempts of one agent ended. */
export interface AgentSeries {
  attempts: number;
  completed: number;
  /** For good. */
  failed: number;
  retried: number;
  costMicroUsd: number;
  ran: Histogram;
}

/** Counts of one tenant. */
export interface TenantCounts {
  /** By queue, band and source. */
  series: Map<string, Series>;
  /** By `<agent>/<band>`. */
  times: Map<string, ServiceTime>;
  /** By agent. */
  agents: Map<string, AgentSeries>;
}

/** What agents used. */
export interface AgentCounts {
  inputTokens: number;
  outputTokens: number;
  costMicroUsd: number;
  throttled: number;
}

/**
 * How a call of a model ended. `refused`: its provider takes no calls for a while; `batched`: by a batch; `unbatched`: it was to go by a batch, and is
 * made directly.
 */
type CallResult = 'answered' | 'refused' | 'failed' | 'batched' | 'unbatched';

/** What was counted since the last `take`. */
export interface TakenCounts {
  tenants: Map<string, TenantCounts>;
  agents: Map<string, AgentCounts>;
  /** By `<account>|<model>|<result>`. */
  calls: Map<string, number>;
  /** Entries of output streams that could not be written. */
  lostOutputs: number;
}

/** The code of an attempt that a provider put off; it costs no attempt. */
const THROTTLED = 'THROTTLED';
/** Results of agents that came to an end of their own. */
const RAN: ReadonlySet<string> = new Set(['success', 'failed', 'timeout']);

/** LocalCounts is responsible for counting in memory what this process does, for two look-ups a step. */
export class LocalCounts {
  readonly #isOn: boolean;
  #tenants = new Map<string, TenantCounts>();
  #agents = new Map<string, AgentCounts>();
  #calls = new Map<string, number>();
  #lostOutputs = 0;

  /** Counts nothing where no counter would be read. */
  constructor(isOn: boolean) {
    this.#isOn = isOn;
  }

  get isEmpty(): boolean {
    return this.#tenants.size === 0 && this.#agents.size === 0 && this.#calls.size === 0 && this.#lostOutputs === 0;
  }

  /** The codes of the attempts counted so far. */
  get codes(): ReadonlySet<string> {
    return new Set(allSeries(this.#tenants).flatMap(({ attempts }) => Array.from(attempts.keys(), (name) => name.split('|')[1] ?? '')));
  }

  /** Counts a task that was accepted; `status` may be its end already. */
  taskAccepted(tenant: string, task: CountedTask, status: TaskStatus): void {
    if (!this.#isOn) return;
    const series = seriesOf(this.#of(tenant).series, task);
    series.accepted += 1;
    if (isTerminal(status)) addOne(series.ended, status);
  }

  /** Counts a task that was refused because there is too much work. */
  taskShed(tenant: string, task: CountedTask): void {
    if (!this.#isOn) return;
    seriesOf(this.#of(tenant).series, task).shed += 1;
  }

  /** Counts the wait of a task before its first attempt. */
  attemptStarted(tenant: string, task: CountedTask, waitedMs: number): void {
    if (!this.#isOn) return;
    observe(seriesOf(this.#of(tenant).series, task).waited, waitedMs);
  }

  /** Counts an attempt that was settled, and the end of its task. */
  attemptEnded(tenant: string, task: CountedTask, attempt: CountedAttempt): void {
    if (!this.#isOn) return;
    const counts = this.#of(tenant);
    const series = seriesOf(counts.series, task);
    const { result, code, ranMs, status } = attempt;
    countForAgent(counts.agents, attempt);
    addOne(series.attempts, `${result}|${code}`);
    if (isTerminal(status)) addOne(series.ended, status);
    if (status === 'failed' || status === 'timeout') series.retried += 1;
    if (ranMs !== null && RAN.has(result)) {
      observe(series.ran, ranMs);
      addTime(counts.times, `${attempt.agent}/${series.band}`, ranMs);
    }
    series.costMicroUsd += attempt.usage?.costMicroUsd ?? 0;
    this.#countUse(attempt);
  }

  /** Counts an attempt that made room for a critical task. */
  attemptPreempted(tenant: string, task: CountedTask): void {
    if (!this.#isOn) return;
    seriesOf(this.#of(tenant).series, task).preempted += 1;
  }

  /** Counts a task whose sla passed before its end. */
  slaBreached(tenant: string, task: CountedTask): void {
    if (!this.#isOn) return;
    seriesOf(this.#of(tenant).series, task).slaBreached += 1;
  }

  /** Counts a task that ended without an attempt. */
  taskEnded(tenant: string, task: CountedTask, status: TaskStatus): void {
    if (!this.#isOn) return;
    addOne(seriesOf(this.#of(tenant).series, task).ended, status);
  }

  /** Counts a call of a model by its labels, of which there are few. */
  modelCalled({ account, model }: { account: string; model: string }, result: CallResult): void {
    if (this.#isOn) addOne(this.#calls, `${account}|${model}|${result}`);
  }

  /** Counts an entry of an output stream that no reader will see; the record of its task has it. */
  outputLost(): void {
    if (this.#isOn) this.#lostOutputs += 1;
  }

  /** Counts what a run used while no attempt of it ran. */
  usageAdded(agent: string, usage: TaskUsage): void {
    if (this.#isOn) this.#countUse({ agent, code: '', usage });
  }

  /** Returns the counts, and starts again at 0. */
  take(): TakenCounts {
    const taken = { tenants: this.#tenants, agents: this.#agents, calls: this.#calls, lostOutputs: this.#lostOutputs };
    this.#tenants = new Map();
    this.#agents = new Map();
    this.#calls = new Map();
    this.#lostOutputs = 0;
    return taken;
  }

  #of(tenant: string): TenantCounts {
    let counts = this.#tenants.get(tenant);
    if (!counts) this.#tenants.set(tenant, (counts = { series: new Map(), times: new Map(), agents: new Map() }));
    return counts;
  }

  #countUse({ agent, code, usage }: Pick<CountedAttempt, 'agent' | 'code' | 'usage'>): void {
    if (code !== THROTTLED && !usage) return;
    const counts = this.#agents.get(agent) ?? { inputTokens: 0, outputTokens: 0, costMicroUsd: 0, throttled: 0 };
    this.#agents.set(agent, counts);
    if (code === THROTTLED) counts.throttled += 1;
    if (!usage) return;
    counts.inputTokens += usage.inputTokens;
    counts.outputTokens += usage.outputTokens;
    counts.costMicroUsd += usage.costMicroUsd ?? 0;
  }
}

/** The series of all these tenants. */
export function allSeries(tenants: ReadonlyMap<string, TenantCounts>): Series[] {
  return [...tenants.values()].flatMap(({ series }) => Array.from(series.values()));
}

function countForAgent(agents: Map<string, AgentSeries>, { agent, result, ranMs, status, usage }: CountedAttempt): void {
  let series = agents.get(agent);
  if (!series) {
    agents.set(agent, (series = { attempts: 0, completed: 0, failed: 0, retried: 0, costMicroUsd: 0, ran: createHistogram() }));
  }
  series.attempts += 1;
  if (status === 'completed') series.completed += 1;
  if (status === 'permanently_failed') series.failed += 1;
  if (status === 'failed' || status === 'timeout') series.retried += 1;
  if (ranMs !== null && RAN.has(result)) observe(series.ran, ranMs);
  series.costMicroUsd += usage?.costMicroUsd ?? 0;
}

function addTime(times: Map<string, ServiceTime>, name: string, ms: number): void {
  const time = times.get(name) ?? { attempts: 0, totalMs: 0 };
  times.set(name, time);
  time.attempts += 1;
  time.totalMs += ms;
}
