export type Values = [labels: Record<string, string>, value: number][];

/** A figure of the fleet as it is now. */
export interface GaugeOptions {
  name: string;
  help: string;
  read: () => Promise<Values>;
}

/** How long one reading serves the gauges of one process. */
const FRESH_MS = 1000;

/** Reads at most once in this time, also for concurrent callers. */
export function memoize<T>(read: () => Promise<T>, freshMs = FRESH_MS): () => Promise<T> {
  let reading: { at: number; value: Promise<T> } | undefined;
  return () => {
    if (!reading || performance.now() - reading.at > freshMs) reading = { at: performance.now(), value: read() };
    return reading.value;
  };
}
