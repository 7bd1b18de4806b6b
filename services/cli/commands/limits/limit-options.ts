import { type Command, InvalidArgumentError } from 'commander';
import { CliProblem, EXIT } from '../../cli-problem.ts';

/** A figure; `none` takes the limit away. The parser of options keeps no null. */
type Figure = number | 'none';
type Figures = Record<string, Figure>;

interface Rate {
  perMinute: number;
  perHour: number;
  burst?: number;
}

/** The limits that options name, by their names in the API. */
export interface LimitOptions {
  running?: Figure;
  maxConcurrent?: Figure;
  waiting?: Figure;
  runningLow?: Figure;
  weight?: number;
  storedBytes?: Figure;
  maxTimeoutMs?: Figure;
  retentionMs?: Figure;
  runningByClass?: Figures;
  runningByAgent?: Figures;
  rates?: Record<string, Rate | 'none'>;
  json?: boolean;
}

/** Adds the options that name limits: each as `limits show` prints it, some by a short name too. */
export function withLimits(command: Command): Command {
  return command
    .option('--running <n>', 'tasks of a tenant with a grant at once; without a tenant the same as --max-concurrent', readFigure)
    .option('--max-concurrent <n>', 'attempts of the fleet at once', readFigure)
    .option('--low, --running-low <n>', 'tasks of priority 1 at once', readFigure)
    .option('--class, --running-by-class <name=n>', 'tasks of a class of source at once, such as user=5; repeatable', addFigure)
    .option('--rate, --rates <name=m/h/b>', 'tasks accepted per minute, hour and at once, such as user=60/1000/100; repeatable', addRate)
    .option('--waiting <n>', 'tasks of a tenant without a grant', readFigure)
    .option('--agent, --running-by-agent <id=n>', "tasks of a tenant's agent at once; repeatable", addFigure)
    .option('--weight <n>', "a tenant's share while tenants take turns", readWeight)
    .option('--stored-bytes <n>', "bytes of Redis's memory that a tenant may take", readFigure)
    .option('--max-timeout-ms <n>', "the longest attempt that a tenant's tasks may ask for, in milliseconds", readFigure)
    .option(
      '--retention-ms <n>',
      "how long a tenant's ended tasks are kept, in milliseconds, where that is shorter than the fleet's time",
      readFigure,
    )
    .option('--json', 'print the answer as JSON');
}

/** The limits as the API takes them, of a tenant or of the fleet. Errors: an option that the other one has. */
export function limitsIn(options: LimitOptions, tenant: string | undefined): Record<string, unknown> {
  const common = {
    runningLow: asLimit(options.runningLow),
    ...named('runningByClass', options.runningByClass),
    ...named('rates', options.rates),
  };
  return tenant === undefined ? { ...fleetLimitsIn(options), ...common } : { ...tenantLimitsIn(options), ...common };
}

function tenantLimitsIn(options: LimitOptions): object {
  const { maxConcurrent, running, waiting, weight, storedBytes, maxTimeoutMs, retentionMs, runningByAgent } = options;
  if (maxConcurrent !== undefined) {
    throw usage("--max-concurrent is a limit of the fleet: leave the tenant out, or name the tenant's --running");
  }
  return {
    running: asLimit(running),
    waiting: asLimit(waiting),
    weight,
    storedBytes: asLimit(storedBytes),
    maxTimeoutMs: asLimit(maxTimeoutMs),
    retentionMs: asLimit(retentionMs),
    ...named('runningByAgent', runningByAgent),
  };
}

function fleetLimitsIn({ maxConcurrent, running, ...ofTenant }: LimitOptions): object {
  const { waiting, weight, storedBytes, maxTimeoutMs, retentionMs, runningByAgent } = ofTenant;
  const isOfTenant = [waiting, weight, storedBytes, maxTimeoutMs, retentionMs].some((figure) => figure !== undefined);
  if (isOfTenant || runningByAgent !== undefined) {
    throw usage('--waiting, --agent, --weight, --stored-bytes, --max-timeout-ms and --retention-ms are limits of a tenant: name one');
  }
  if (maxConcurrent !== undefined && running !== undefined) throw usage('Without a tenant --running is --max-concurrent: name one of them');
  return { maxConcurrent: asLimit(maxConcurrent ?? running) };
}

function usage(message: string): CliProblem {
  return new CliProblem(message, { exitCode: EXIT.usage });
}

function named(name: string, figures: Record<string, unknown> = {}): Record<string, unknown> {
  const limits = Object.entries(figures).map(([each, figure]) => [each, asLimit(figure)]);
  return limits.length === 0 ? {} : { [name]: Object.fromEntries(limits) };
}

/** As the API takes it: null is no limit. */
function asLimit<Limit>(figure: Limit | 'none'): Limit | null {
  return figure === 'none' ? null : figure;
}

function readFigure(text: string): Figure {
  if (text === 'none') return text;
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('expected a number, or none');
  return Number(text);
}

function readWeight(text: string): number {
  const weight = Number(text);
  if (!Number.isFinite(weight) || weight <= 0) throw new InvalidArgumentError('expected a number above 0, such as 2');
  return weight;
}

function addFigure(text: string, before: Figures = {}): Figures {
  const [name, figure] = split(text);
  return { ...before, [name]: readFigure(figure) };
}

function addRate(text: string, before: LimitOptions['rates'] = {}): LimitOptions['rates'] {
  const [name, rate] = split(text);
  if (rate === 'none') return { ...before, [name]: rate };
  const [, perMinute, perHour, burst] = /^(\d{1,9})\/(\d{1,9})(?:\/(\d{1,9}))?$/.exec(rate) ?? [];
  if (perMinute === undefined) throw new InvalidArgumentError('expected figures such as 60/1000 or 60/1000/100, or none');
  const figures = { perMinute: Number(perMinute), perHour: Number(perHour) };
  return { ...before, [name]: burst === undefined ? figures : { ...figures, burst: Number(burst) } };
}

function split(text: string): [name: string, figure: string] {
  const [, name = '', figure = ''] = /^([^=]+)=(.*)$/.exec(text) ?? [];
  return [name, figure];
}
