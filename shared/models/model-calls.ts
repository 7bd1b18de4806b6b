import { type BudgetDirectory, reserveSpend, settleSpend } from '../budgets/index.ts';
import type { Settings } from '../config/index.ts';
import type { Ledger } from '../ledger/index.ts';
import type { Log } from '../log/index.ts';
import type { ProviderThrottle } from '../providers/index.ts';
import type { Keys, RedisClient } from '../redis/index.ts';
import { systemClock } from '../time/index.ts';
import { AttemptAccount } from './attempt-account.ts';
import { AttemptModels, type AttemptModelsOptions } from './attempt-models.ts';
import type { GatePorts, Spending } from './call-gate.ts';
import { CallUsages } from './call-usages.ts';
import { Circuits } from './circuits/circuits.ts';
import { EndpointRequests, type EndpointRequestsOptions } from './circuits/endpoint-requests.ts';
import { Latencies } from './latencies.ts';

interface ModelCallPorts {
  readonly redis: RedisClient;
  readonly keys: Keys;
  readonly settings: Settings;
  readonly throttle: ProviderThrottle;
  readonly budgets: BudgetDirectory;
  readonly ledger: Ledger;
  readonly log: Log;
}

/** ModelCalls is responsible for what the model calls of one process share: what they have to pass, and how long models take. */
export class ModelCalls {
  readonly #shared: Omit<AttemptModelsOptions, keyof AttemptOptions>;
  readonly #throttle: ProviderThrottle;

  constructor(ports: ModelCallPorts) {
    const { settings, throttle, log } = ports;
    this.#throttle = throttle;
    const spending: Spending = {
      reserve: (request, amounts) => reserveSpend(ports, request, amounts),
      settle: (call, costMicroUsd) => settleSpend(ports, call, costMicroUsd),
    };
    this.#shared = {
      settings,
      throttle,
      spending,
      log,
      now,
      circuits: new Circuits(ports),
      latencies: new Latencies(systemClock),
      usages: new CallUsages(),
      traces: ports.ledger.traces,
    };
  }

  /** The model calls of one attempt. */
  open(attempt: AttemptOptions): AttemptModels {
    return new AttemptModels({ ...this.#shared, ...attempt });
  }

  /** The account of one attempt's program. */
  openAccount(attempt: Pick<AttemptOptions, 'caller' | 'signal'>): AttemptAccount {
    return new AttemptAccount({ ...attempt, throttle: this.#throttle });
  }

  /** The requests of one attempt to endpoints that are no models. */
  openRequests(caller: EndpointRequestsOptions['caller']): EndpointRequests {
    return new EndpointRequests({ ...this.#shared, caller });
  }
}

type AttemptOptions = Omit<AttemptModelsOptions, keyof GatePorts | 'latencies' | 'usages' | 'now' | 'traces'>;

function now(): number {
  return systemClock.monotonic();
}
