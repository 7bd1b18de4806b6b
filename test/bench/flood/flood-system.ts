/** A system that takes tasks of many tenants and runs them in a bounded number of slots. */
export interface FloodSystem {
  /** Submits so many tasks of one tenant, as fast as it can. */
  flood(tenant: string, count: number): Promise<void>;
  /** Starts to run what waits. */
  start(): Promise<void>;
  /** Submits one task; returns its id. */
  submit(tenant: string): Promise<string>;
  /** When a task began, monotonic ms; undefined while it waits. */
  startedAt(id: string): number | undefined;
  close(): Promise<void>;
}

export interface FloodOptions {
  slots: number;
  /** How long the next task holds its slot. Of equal tasks all slots would end at the same moment. */
  workMs: () => number;
  /** All of them, the flooding one first. */
  tenants: readonly string[];
}
