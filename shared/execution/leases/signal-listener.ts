import { laneOfTask, type Ledger, parseWorkerSignal } from '../../ledger/index.ts';
import { parseDrainSignal } from '../../queue/index.ts';
import type { Keys, Subscription } from '../../redis/index.ts';
import type { RunningAttempt } from '../attempt/running-attempt.ts';

interface SignalPorts {
  keys: Keys;
  /** Opens a subscription whose connection shows under this name. */
  subscribe(name: string, channels: readonly string[], onMessage: (message: string) => void): Subscription;
}

interface SignalListenerOptions {
  parts: SignalPorts;
  /** Called with the lease member of an attempt that is to stop, here or elsewhere. */
  onStop: (member: string) => void;
  /** Called with the lease member of an attempt for whose run messages wait. */
  onInput: (member: string) => void;
  /** Called with the worker whose drain was requested. */
  onDrain?: ((worker: string) => void) | undefined;
}

export interface SignalListener {
  close(): void;
  /** Why it receives nothing, in words; else null. */
  readonly problem: string | null;
}

/**
 * Listens for stops, input and drains, which makes them quick. The renewal of the lease finds missed stops, `pollInput` missed input, and the
 * next heartbeat a missed drain.
 */
export function listenForSignals({ parts, onStop, onInput, onDrain }: SignalListenerOptions): SignalListener {
  const { keys } = parts;
  const channels = Array.from({ length: keys.shards }, (_, shard) => keys.shard(shard).workerSignal);
  const all = onDrain ? [...channels, keys.fleet.drainSignal] : channels;
  const subscription = parts.subscribe('worker-signals', all, (message) => {
    const drained = parseDrainSignal(message);
    if (drained !== null) {
      onDrain?.(drained);
      return;
    }
    const signal = parseWorkerSignal(message);
    if (signal.kind === 'stop') onStop(signal.member);
    else onInput(signal.member);
  });
  subscription.start();
  return subscription;
}

/** Notifies each attempt that takes input, and in whose lane a message waits: its signal may have been lost. */
export async function pollInput(ledger: Ledger, attempts: readonly RunningAttempt[]): Promise<void> {
  const lanes = attempts.flatMap((attempt) => {
    const { tenant, id, lane } = attempt.ref;
    return attempt.takesInput ? [{ attempt, key: ledger.keys.tenant(tenant).laneWait(lane ?? laneOfTask(id)) }] : [];
  });
  // Single commands, because a pipeline cannot span shards; in the same turn, so that they leave together.
  const waiting = await Promise.all(lanes.map(({ key }) => ledger.redis.exists(key)));
  for (const [position, { attempt }] of lanes.entries()) if (waiting[position] === 1) attempt.notifyInput();
}
