import { parseArgs } from 'node:util';

export interface BenchOptions {
  rounds: number;
  tasks: number;
}

const QUICK: BenchOptions = { rounds: 3, tasks: 2000 };

interface MoreOptions {
  isFull: boolean;
  part: string | undefined;
  minutes: number | undefined;
}

/**
 * Reads `--rounds <n>`, `--tasks <n>`, `--quick`, which is both small, `--full`, which is with the largest sizes, `--part <name>`, and
 * `--minutes <n>`.
 */
export function readOptions(defaults: BenchOptions): BenchOptions & MoreOptions {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string' },
      tasks: { type: 'string' },
      quick: { type: 'boolean' },
      full: { type: 'boolean' },
      part: { type: 'string' },
      minutes: { type: 'string' },
    },
  });
  const { rounds, tasks } = values.quick === true ? QUICK : defaults;
  return {
    rounds: Number(values.rounds ?? rounds),
    tasks: Number(values.tasks ?? tasks),
    isFull: values.full === true,
    part: values.part,
    minutes: values.minutes === undefined ? undefined : Number(values.minutes),
  };
}

/** A size from the command line, by its place from 1 on. Throws a RangeError for what is no positive whole number. */
export function readSize(place: number, size: number): number {
  const given = process.argv[place + 1];
  const value = given === undefined ? size : Number(given);
  if (!Number.isInteger(value) || value < 1) throw new RangeError(`Expected a positive whole number instead of "${given}"`);
  return value;
}

/** Writes how far a bench is, beside its table. */
export function progress(line: string): void {
  process.stderr.write(`  ${line}\n`);
}
