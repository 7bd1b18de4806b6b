import { parseArgs } from 'node:util';

export interface BenchOptions {
  rounds: number;
  tasks: number;
}

const QUICK: BenchOptions = { rounds: 3, tasks: 2000 };

/** Reads `--rounds <n>`, `--tasks <n>`, `--quick`, which is both small, `--full`, which is with the largest sizes, and `--part <name>`. */
export function readOptions(defaults: BenchOptions): BenchOptions & { isFull: boolean; part: string | undefined } {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string' },
      tasks: { type: 'string' },
      quick: { type: 'boolean' },
      full: { type: 'boolean' },
      part: { type: 'string' },
    },
  });
  const { rounds, tasks } = values.quick === true ? QUICK : defaults;
  return { rounds: Number(values.rounds ?? rounds), tasks: Number(values.tasks ?? tasks), isFull: values.full === true, part: values.part };
}

/** Writes how far a bench is, beside its table. */
export function progress(line: string): void {
  process.stderr.write(`  ${line}\n`);
}
