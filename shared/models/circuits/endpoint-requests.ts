import type { TaskFailure } from '../../errors/index.ts';
import type { AttemptRef } from '../../ledger/index.ts';
import { retryWhileAway } from '../../redis/index.ts';
import { type CallCircuitPorts, type CircuitEnd, circuitCall, failureOfProbe, heldByCircuit, reportEndToCircuit } from '../call-circuit.ts';
import { isTimeout } from '../gated-call.ts';

export interface EndpointRequestsOptions extends CallCircuitPorts {
  /** The attempt that sends them. */
  readonly caller: { readonly ref: AttemptRef; readonly agent: string };
  /** Monotonic, ms. */
  readonly now: () => number;
}

/** A request to admit. */
interface EndpointRequest<T> {
  /** Where it goes. */
  readonly url: string;
  readonly signal: AbortSignal;
  /** Sends it and reads the answer; calls `onPart` with each part that comes of it. */
  readonly run: (onPart: () => void) => Promise<T>;
  /** What an error of `run` means for the attempt. */
  readonly failureOf: (error: unknown) => TaskFailure;
}

/** EndpointRequests is responsible for the requests of one attempt to endpoints that are no models: each passes the circuit of its agent and endpoint. */
export class EndpointRequests {
  readonly #options: EndpointRequestsOptions;

  constructor(options: EndpointRequestsOptions) {
    this.#options = options;
  }

  /**
   * Sends one request, and counts its end. Waits while Redis is away. Rejects with what `failureOf` gives, with a `HeldFailure` while the
   * circuit is open, or with the signal's reason when it aborts.
   */
  async send<T>({ url, signal, run, failureOf }: EndpointRequest<T>): Promise<T> {
    const { caller, circuits, now } = this.#options;
    const { origin: endpoint } = new URL(url);
    const call = circuitCall(caller, endpoint);
    const circuit = await retryWhileAway(() => circuits.admit(call), { signal });
    if (circuit.kind === 'wait') throw heldByCircuit(this.#options, endpoint, circuit);
    let [lastAt, hasBegun] = [now(), false];
    const report = (end: Pick<CircuitEnd, 'failure' | 'isAborted'>): Promise<void> => {
      const isTimedOut = end.isAborted && isTimeout(signal.reason);
      return reportEndToCircuit(this.#options, { call, circuit }, { ...end, isTimedOut, silentMs: now() - lastAt });
    };
    try {
      const answer = await run(() => {
        [lastAt, hasBegun] = [now(), true];
      });
      await report({ failure: null, isAborted: false });
      return answer;
    } catch (error) {
      const failure = signal.aborted ? null : failureOf(error);
      await report({ failure, isAborted: failure === null });
      if (failure === null) throw signal.reason;
      throw hasBegun ? failure : failureOfProbe(this.#options, { endpoint, circuit }, failure);
    }
  }
}
