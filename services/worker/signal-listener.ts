import { parseWorkerSignal } from '#shared/ledger/index.ts';
import type { Parts } from '#shared/lifecycle/index.ts';

export interface SignalListenerOptions {
  parts: Pick<Parts, 'subscribe' | 'keys'>;
  /** Called with the lease member of an attempt that somebody wants to stop, here or elsewhere. */
  onStop: (member: string) => void;
  /** Called with the lease member of an attempt for whose run messages wait. */
  onInput: (member: string) => void;
}

export interface SignalListener {
  close(): void;
  /** In words, while it hears nothing; else null. */
  readonly problem: string | null;
}

/** Listens for stops and for input. They make both quick; the lease renewal sees what was missed here. */
export function listenForSignals({ parts, onStop, onInput }: SignalListenerOptions): SignalListener {
  const { keys, subscribe } = parts;
  const channels = Array.from({ length: keys.shards }, (_, shard) => keys.shard(shard).workerSignal);
  const subscription = subscribe('worker-signals', channels, (message) => {
    const { kind, member } = parseWorkerSignal(message);
    if (kind === 'stop') onStop(member);
    else onInput(member);
  });
  subscription.start();
  return subscription;
}
