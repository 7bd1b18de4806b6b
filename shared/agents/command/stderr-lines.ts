import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { AgentContext } from '../../config/index.ts';
import { readUntil } from '../../providers/index.ts';
import { readUsage } from '../read-agent-answer.ts';
import { placeIn } from './presets/preset.ts';

/** Characters of a line that are kept; those that are read have fewer. */
const MAX_LINE = 4096;

/** A limit that a program reports: `muster-limit {"until":"2026-12-03T09:00:00Z"}`. */
export interface ReportedLimit {
  readonly untilMs: number | null;
  readonly reason: string | null;
}

const limitSchema = z.object({
  /** ISO 8601, seconds or milliseconds since the epoch, or words. */
  until: z.union([z.string(), z.number()]).nullish(),
  retryAfterMs: z.number().min(0).nullish(),
  reason: z.string().max(500).nullish(),
});

interface StderrListener {
  readonly onLimit: (limit: ReportedLimit) => void;
  readonly zone: string;
}

/**
 * Reads the lines of a program's stderr that are for Muster, as they come: `muster-usage {"inputTokens":1,"outputTokens":1}` reports what it
 * used, and `muster-limit {"until":"2026-12-03T09:00:00Z"}` that its account has nothing left until then.
 */
export function readStderrLines(
  stderr: Readable,
  context: Pick<AgentContext, 'reportUsage' | 'log'>,
  { onLimit, zone }: StderrListener,
): void {
  const readers: Readonly<Record<string, (value: unknown) => void>> = {
    'muster-usage ': (value) => context.reportUsage(readUsage(value)),
    'muster-limit ': (value) => onLimit(readReportedLimit(value, zone)),
  };
  const read = (line: string): void => {
    const prefix = Object.keys(readers).find((each) => line.startsWith(each));
    if (prefix === undefined) return;
    try {
      readers[prefix]?.(JSON.parse(line.slice(prefix.length)));
    } catch (error) {
      context.log.warn({ event: 'command.line-unreadable', err: error }, `a line "${prefix.trim()}" of stderr cannot be read`);
    }
  };
  const decoder = new TextDecoder();
  let line = '';
  stderr.on('data', (piece: Buffer) => {
    const lines = `${line}${decoder.decode(piece, { stream: true })}`.split('\n');
    line = (lines.pop() ?? '').slice(0, MAX_LINE);
    lines.forEach(read);
  });
  // A program that is killed may not have ended its last line.
  stderr.once('close', () => read(line));
}

function readReportedLimit(value: unknown, zone: string): ReportedLimit {
  const { until, retryAfterMs, reason = null } = limitSchema.parse(value);
  const place = placeIn(zone);
  const untilMs =
    readUntil(until, place) ?? (typeof retryAfterMs === 'number' ? readUntil(place.nowMs + Math.max(1, retryAfterMs), place) : null);
  return { untilMs, reason };
}
