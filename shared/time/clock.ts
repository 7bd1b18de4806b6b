/** The two clocks a process reads; tests hand in their own. */
export interface Clock {
  /** Wall time in milliseconds since the epoch: for records and comparison with other machines. */
  now(): number;
  /** Milliseconds from an arbitrary start that never jump: for deadlines inside one process. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};
