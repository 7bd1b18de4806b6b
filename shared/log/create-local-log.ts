import pino, { type DestinationStream } from 'pino';
import { createLog, type Log } from './create-log.ts';

export interface LocalLogOptions {
  level: string;
  service: string;
  /** Each gets every line, as JSON: a file, and what turns lines into words for a person. */
  destinations: readonly DestinationStream[];
}

/** The log of a fleet that runs in one process in front of a person. */
export function createLocalLog({ level, service, destinations }: LocalLogOptions): Log {
  // The logger's own level decides; a stream without one would drop what is below `info`.
  const streams = destinations.map((stream) => ({ stream, level: 'trace' as const }));
  return createLog({ level, service, destination: pino.multistream(streams) });
}
