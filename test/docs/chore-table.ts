import { type Settings, settingsSchema } from '#shared/config/settings/settings.ts';
import { choreNames, definitionOf } from '#shared/queue/chores/chores.ts';

const RUNS = { job: 'one in the fleet, a repeatable job', lock: 'one in the fleet, under a lock', process: 'each' } as const;
const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** A row for each chore: name, who runs it, how often by which setting, and what it guarantees. */
export function choreRows(): string[] {
  const standard = settingsSchema.parse({});
  return choreNames().map((name) => {
    const { runs, by, everyMs, guarantees } = definitionOf(name);
    const read: string[] = [];
    const ms = everyMs(recorded(standard, '', read) as Settings);
    const setting = read.length === 0 ? '' : `, \`${read.join('`, `')}\``;
    return `| \`${name}\` | ${by.join(', ')}; ${RUNS[runs]} | ${durationOf(ms)}${setting} | ${guarantees} |`;
  });
}

/** The same settings, which note the paths of the figures that are read. */
function recorded(settings: object, path: string, read: string[]): object {
  return new Proxy(settings, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      const own = `${path}${String(name)}`;
      if (typeof value === 'object' && value !== null) return recorded(value, `${own}.`, read);
      read.push(own);
      return value;
    },
  });
}

function durationOf(ms: number): string {
  if (ms >= MINUTE) return `${ms / MINUTE} min`;
  return ms >= SECOND ? `${ms / SECOND} s` : `${ms} ms`;
}
