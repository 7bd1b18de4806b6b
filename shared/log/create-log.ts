import pino, { type DestinationStream, type Logger } from 'pino';
import { CENSOR, redactError, redactInner, SECRET_NAMES } from './redact.ts';
import { spanFields } from './traces/active-span.ts';
import { StdoutWriter } from './stdout-writer.ts';

export type Log = Logger;

export interface LogOptions {
  level: string;
  /** The service that writes: `api`, `worker`, ... */
  service: string;
  /** Where lines go; by default JSON to stdout. */
  destination?: DestinationStream;
  /** Whether lines name the span whose code writes them; by default not. */
  hasSpans?: boolean;
}

/** Structured JSON log of one service; secrets are replaced. */
export function createLog({ level, service, destination = new StdoutWriter(), hasSpans = false }: LogOptions): Log {
  const options = {
    level,
    base: { service },
    ...(hasSpans && { mixin: spanFields }),
    timestamp: isoTime,
    formatters: { level: (label: string) => ({ level: label }), log: redactInner },
    serializers: { err: (error: Error) => redactError(pino.stdSerializers.err(error)) },
    redact: { paths: [...SECRET_NAMES], censor: CENSOR },
  };
  return pino(options, destination);
}

let writtenMs = 0;
let written = '';

/** The time of a line, written once for all lines of a millisecond. */
function isoTime(): string {
  const now = Date.now();
  if (now !== writtenMs) {
    writtenMs = now;
    written = `,"time":"${new Date(now).toISOString()}"`;
  }
  return written;
}

export interface LocalLogOptions extends Pick<LogOptions, 'level' | 'service' | 'hasSpans'> {
  /** Each gets every line, as JSON: a file, and what turns lines into words for a person. */
  destinations: readonly DestinationStream[];
}

/** The log of a fleet that runs in one process in front of a person. */
export function createLocalLog({ destinations, ...options }: LocalLogOptions): Log {
  // The logger's own level decides; a stream without one would drop what is below `info`.
  const streams = destinations.map((stream) => ({ stream, level: 'trace' as const }));
  return createLog({ ...options, destination: pino.multistream(streams) });
}
