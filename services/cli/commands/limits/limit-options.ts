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

/** The limits that options name. */
export interface LimitOptions {
  running?: Figure;
  waiting?: Figure;
  low?: Figure;
  weight?: number;
  class: Figures;
  agent: Figures;
  rate: Record<string, Rate | 'none'>;
  json?: boolean;
}

/** Adds the options that name limits. */
export function withLimits(command: Command): Command {
  return command
    .option('--running <n>', 'tasks at once: attempts of the fleet, or tasks of a tenant with a grant', readFigure)
    .option('--low <n>', 'tasks of priority 1 at once', readFigure)
    .option('--class <name=n>', 'tasks of a class of source at once, such as user=5; repeatable', addFigure, {})
    .option('--rate <name=m/h/b>', 'tasks accepted per minute, hour and at once, such as user=60/1000/100; repeatable', addRate, {})
    .option('--waiting <n>', 'tasks of a tenant without a grant', readFigure)
    .option('--agent <id=n>', "tasks of a tenant's agent at once; repeatable", addFigure, {})
    .option('--weight <n>', "a tenant's share while tenants take turns", Number)
    .option('--json', 'print the answer as JSON');
}

/** The limits as the API takes them, of a tenant or of the fleet. Errors: an option that only tenants have. */
export function limitsIn(options: LimitOptions, tenant: string | undefined): Record<string, unknown> {
  const { running, waiting, low, weight, class: runningByClass, agent: runningByAgent, rate: rates } = options;
  const common = { runningLow: asLimit(low), ...named('runningByClass', runningByClass), ...named('rates', rates) };
  if (tenant !== undefined) {
    return { running: asLimit(running), waiting: asLimit(waiting), weight, ...common, ...named('runningByAgent', runningByAgent) };
  }
  if (waiting !== undefined || weight !== undefined || Object.keys(runningByAgent).length > 0) {
    throw new CliProblem('--waiting, --agent and --weight are limits of a tenant: name one', { exitCode: EXIT.usage });
  }
  return { maxConcurrent: asLimit(running), ...common };
}

function named(name: string, figures: Record<string, unknown>): Record<string, unknown> {
  const limits = Object.entries(figures).map(([each, figure]) => [each, asLimit(figure)]);
  return limits.length === 0 ? {} : { [name]: Object.fromEntries(limits) };
}

/** As the API takes it: null is no limit. */
function asLimit<Limit>(figure: Limit | 'none'): Limit | null {
  return figure === 'none' ? null : figure;
}

function readFigure(text: string): Figure {
  if (text === 'none') return text;
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('expected a number, or none');
  return Number(text);
}

function addFigure(text: string, before: Figures): Figures {
  const [name, figure] = split(text);
  return { ...before, [name]: readFigure(figure) };
}

function addRate(text: string, before: LimitOptions['rate']): LimitOptions['rate'] {
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
