import type { Queues, RegistryPorts } from '../queue/index.ts';

/** The result of one check. */
export interface CheckResult {
  name: string;
  /** `warn`: it works with a weaker promise; `fail`: the fleet does not start or may lose work; `skip`: it could not be checked. */
  state: 'ok' | 'warn' | 'fail' | 'skip';
  /** The finding and, unless it is fine, its remedy, on one line. */
  detail: string;
  /** Whose it is, such as `agent writer`: no fault of the installation. Absent for what is the installation's. */
  of?: string | undefined;
}

/** What the checks read. */
export interface CheckPorts extends RegistryPorts {
  readonly queues: Queues;
}
