import type { Router } from 'express';

/** One long-lived part of the fleet. It does nothing before `start()` and owns what it opened until `stop()`. */
export interface Service {
  readonly name: string;
  /** The HTTP paths it serves, when it serves any; mounted at `/` of the process's server. */
  readonly router?: Router;
  start(): Promise<void>;
  /**
   * Ends it: takes no new work, lets running work end, and hands back what is left when the time is over.
   * Resolves by then; never rejects.
   */
  stop(graceMs: number): Promise<void>;
}
