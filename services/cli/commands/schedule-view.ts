import { z } from 'zod';
import type { CommandContext } from '../command-context.ts';
import { formatTable, pageSchema } from '../output/table.ts';
import { oneLine } from '../output/text.ts';

const text = z.string().nullish();
const durationSchema = z.union([z.string(), z.number()]).nullish();

/** The fields of a schedule that the commands show; the server sends more. */
export const scheduleViewSchema = z.object({
  id: z.string(),
  number: z.number(),
  name: text,
  kind: z.string(),
  rule: z.string(),
  sentence: z.string(),
  tz: z.string(),
  agent: z.string(),
  message: z.string(),
  status: z.string(),
  pausedReason: text,
  priority: z.union([z.number(), z.string()]).nullish(),
  channel: text,
  platform: text,
  callbackUrl: text,
  missed: text,
  maxLateness: durationSchema,
  overlap: text,
  jitter: durationSchema,
  until: text,
  maxRuns: z.number().nullish(),
  nextFireAt: text,
  next: z.array(z.string()),
  lastRunAt: text,
  lastRunId: text,
  runCount: z.number(),
});

export type ScheduleView = z.infer<typeof scheduleViewSchema>;

/** A person names a schedule by its number, with or without `#`, or by its id. */
export function schedulePath(name: string): string {
  return `/v1/schedules/${encodeURIComponent(name.replace(/^#/, ''))}`;
}

/** Shows the rule in words, its zone and the next times. */
export function showUpcoming(shown: Pick<ScheduleView, 'rule' | 'sentence' | 'tz' | 'next'>, { terminal }: CommandContext): void {
  const { rule, sentence, tz, next } = shown;
  terminal.line(`${sentence} (${tz})  ${terminal.paint(rule, 'dim')}`);
  for (const at of next) terminal.line(`  ${zonedTime(at, tz)}`);
}

/** An ISO time by the clock of a zone, as `2026-05-11 09:00`. Unchanged when this machine does not know the zone. */
export function wallTime(iso: string, tz: string): string {
  const at = new Date(iso);
  try {
    const timeStyle = at.getUTCSeconds() === 0 ? 'short' : 'medium';
    // This locale writes dates as ISO 8601 does.
    return new Intl.DateTimeFormat('sv-SE', { timeZone: tz, dateStyle: 'short', timeStyle }).format(at);
  } catch {
    return iso;
  }
}

/** The same with the zone behind it: `2026-05-11 09:00 Europe/Berlin`. */
export function zonedTime(iso: string, tz: string): string {
  return `${wallTime(iso, tz)} ${tz}`;
}

/** The fields of a run that the commands show; the server sends more. */
const runViewSchema = z.object({
  id: z.string(),
  status: z.string(),
  occurrence: z.string().nullish(),
  startedAt: z.string().nullish(),
  reason: z.string().nullish(),
  resultSummary: z.string().nullish(),
  error: z.object({ code: z.string(), message: z.string() }).nullish(),
});

export const runPageSchema = pageSchema(runViewSchema);

const SUMMARY_WIDTH = 80;

/** Formats a line per run: its time by the clock of the zone, its status, and its result or reason. */
export function runLines(runs: readonly z.infer<typeof runViewSchema>[], tz: string): string[] {
  return formatTable(
    runs.map(({ id, status, occurrence, startedAt, reason, resultSummary, error }) => {
      const at = occurrence ?? startedAt;
      const summary = error ? `${error.message} [${error.code}]` : (reason ?? resultSummary ?? '');
      return ['', at ? zonedTime(at, tz) : '-', status, id, oneLine(summary, SUMMARY_WIDTH)];
    }),
  );
}
