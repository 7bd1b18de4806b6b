import { z } from 'zod';
import type { RunContext } from './run-context.ts';

const text = z.string().nullish();
const duration = z.union([z.string(), z.number()]).nullish();

/** What the commands show of a schedule; the server's record has more. */
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
  maxLateness: duration,
  overlap: text,
  jitter: duration,
  until: text,
  maxRuns: z.number().nullish(),
  nextFireAt: text,
  next: z.array(z.string()),
  lastRunAt: text,
  lastRunId: text,
  runCount: z.number(),
});

export type ScheduleView = z.infer<typeof scheduleViewSchema>;

/** Where a schedule is found; a person names it by its number, with or without `#`, or by its id. */
export function schedulePath(name: string): string {
  return `/v1/schedules/${encodeURIComponent(name.replace(/^#/, ''))}`;
}

/** Says the rule in words, as it was understood and in which zone, and when it fires next. */
export function showUpcoming(shown: Pick<ScheduleView, 'rule' | 'sentence' | 'tz' | 'next'>, { terminal }: RunContext): void {
  const { rule, sentence, tz, next } = shown;
  terminal.line(`${sentence} (${tz})  ${terminal.paint(rule, 'dim')}`);
  for (const at of next) terminal.line(`  ${zonedTime(at, tz)}`);
}

/** An ISO time by the clock of a zone, as `2026-05-11 09:00`; as it is where this machine does not know the zone. */
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

/** The same with the zone behind it, where nothing beside it names the zone: `2026-05-11 09:00 Europe/Berlin`. */
export function zonedTime(iso: string, tz: string): string {
  return `${wallTime(iso, tz)} ${tz}`;
}
