import type { Command } from 'commander';

/** What runs until a signal ends it: the name of its command, and what it is. */
const RUNS = [
  ['start', 'run the whole fleet here, with a Redis of its own unless REDIS_URL names one'],
  ['dev', 'run a fleet here that reloads agents and muster.config.ts when they are saved'],
  ['api', 'run the API alone, on the Redis at REDIS_URL'],
  ['webhooks', 'run the receiver of webhooks alone, likewise'],
  ['chat', 'run the chat platforms alone, likewise'],
  ['scheduler', 'run the clock of the schedules alone, likewise'],
  ['dashboard', 'run the console and the board alone, likewise'],
  ['hub', 'run the hub of the daemons alone, likewise'],
  ['worker', 'run a worker alone, likewise'],
] as const;

/** Runs the fleet, or a service of it, in this process, or a command about a project of one's own. Resolves once it has started; a signal ends it. */
export type Run = (name: (typeof RUNS)[number][0] | 'init' | 'test', args?: readonly string[]) => Promise<void>;

/** The commands that are the fleet itself; all others are its clients. */
export function addRunCommands(program: Command, run: Run): void {
  for (const [name, description] of RUNS) {
    program
      .command(name)
      .description(description)
      .action(async () => run(name));
  }
  program
    .command('init')
    .description('make a project of your own: an agent, its test, and what a container and Kubernetes need')
    .argument('<folder>', 'new or empty')
    .option('--fleet <package>', 'version or packed file of muster-fleet that it uses')
    .action(async (folder: string, { fleet }: { fleet?: string }) =>
      run('init', [folder, ...(fleet === undefined ? [] : ['--fleet', fleet])]),
    );
  program
    .command('test')
    .description('run the tests of a project, as node --test does')
    .argument('[files...]', 'by default every *.test.ts')
    .action(async (files: string[]) => run('test', files));
}
