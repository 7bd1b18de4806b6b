import type { TaskFailure } from '../../errors/index.ts';
import { readLimit } from '../../providers/index.ts';
import { truncate } from '../../text/index.ts';
import type { CommandOptions, CommandRun } from './command-run.ts';
import { limitFailure, placeIn } from './presets/preset.ts';
import type { ReportedLimit } from './stderr-lines.ts';

/** Of stderr, only its last lines say why the program ended. */
const LAST_LINES = 20;
const MAX_MESSAGE = 500;

/** The zone of times that the program writes without one. */
export function zoneOf({ env = {} }: CommandRun['definition'], variables: CommandOptions['variables']): string {
  return env['TZ'] ?? variables['TZ'] ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The limit for which a program failed: the one that it has reported, or else what its last words name with a time. */
export function findLimitIn(
  program: string,
  { limit, stderr, zone }: { limit: ReportedLimit | null; stderr: string; zone: string },
): TaskFailure | null {
  if (limit !== null) return limitFailure(limit.reason ?? `"${program}" has reached a limit`, limit);
  const lines = stderr.trim().split('\n').slice(-LAST_LINES);
  const named = lines.findLast((line) => (readLimit(line, placeIn(zone))?.untilMs ?? null) !== null);
  const words = named ?? lines.join(' ');
  const found = readLimit(words, placeIn(zone));
  // Without a time it may be about anything, as what a test of the program's own prints.
  return found === null || found.untilMs === null ? null : limitFailure(truncate(words.trim(), MAX_MESSAGE), found);
}
