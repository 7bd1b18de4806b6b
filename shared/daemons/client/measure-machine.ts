import { availableParallelism, freemem, loadavg } from 'node:os';

export interface MachineLoad {
  /** Share of the machine's processors that is busy, 0 to 1. */
  readonly load: number;
  /** Memory that programs could still get, in MiB. */
  readonly memoryMb: number;
}

/** Measures this machine over the last minute. Windows knows no such average, so there the load is 0. */
export function measureMachine(): MachineLoad {
  const [lastMinute = 0] = loadavg();
  return { load: Math.min(1, lastMinute / availableParallelism()), memoryMb: Math.floor(freemem() / 1_048_576) };
}
