import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '../../time/index.ts';

/** What this process used since the reading before. */
export interface ProcessReading {
  /** Resident memory, MiB. */
  memoryMb: number;
  /** Cores; 1 is one core. */
  cpu: number;
  /** 99th percentile, ms. */
  eventLoopDelayMs: number;
}

const BYTES_PER_MB = 1_048_576;
/** How often the delay of the event loop is measured; each measurement includes this wait. */
const RESOLUTION_MS = 20;

/** ProcessMeter is responsible for the figures of a worker's own process between two of its reports. */
export class ProcessMeter {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #delays: ReturnType<typeof monitorEventLoopDelay> | undefined;
  #readAt = 0;
  #cpuMicros = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  start(): void {
    this.#delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
    this.#delays.enable();
    this.#readAt = this.#clock.monotonic();
    this.#cpuMicros = usedMicros();
  }

  stop(): void {
    this.#delays?.disable();
  }

  read(): ProcessReading {
    const [now, cpuMicros] = [this.#clock.monotonic(), usedMicros()];
    const elapsedMs = Math.max(1, now - this.#readAt);
    const cpu = (cpuMicros - this.#cpuMicros) / 1000 / elapsedMs;
    const delayMs = this.#delays === undefined || this.#delays.count === 0 ? 0 : this.#delays.percentile(99) / 1_000_000 - RESOLUTION_MS;
    this.#delays?.reset();
    [this.#readAt, this.#cpuMicros] = [now, cpuMicros];
    return {
      memoryMb: Math.round(process.memoryUsage.rss() / BYTES_PER_MB),
      cpu: Math.round(cpu * 1000) / 1000,
      eventLoopDelayMs: Math.round(Math.max(0, delayMs) * 10) / 10,
    };
  }
}

function usedMicros(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
