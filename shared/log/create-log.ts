import pino, { type DestinationStream, type Logger } from 'pino';

export type Log = Logger;

/** Paths that never reach a log line, wherever they stand in a logged object. */
const SECRET_PATHS = ['authorization', 'cookie', 'secret', 'apiKey', 'password', 'token', 'key'].flatMap((name) => [
  name,
  `*.${name}`,
  `*.*.${name}`,
]);

export interface LogOptions {
  level: string;
  /** The service that writes: `api`, `worker`, ... */
  service: string;
  /** Where lines go; by default JSON to stdout. */
  destination?: DestinationStream;
}

/** Structured JSON log of one service; secrets are replaced. */
export function createLog({ level, service, destination }: LogOptions): Log {
  const options = {
    level,
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: SECRET_PATHS, censor: '[redacted]' },
  };
  return destination ? pino(options, destination) : pino(options);
}

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
