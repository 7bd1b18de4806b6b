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

/** Runs the fleet, or a service of it, in this process. Resolves once it has started; a signal ends it. */
export type Run = (name: (typeof RUNS)[number][0]) => Promise<void>;

/** The commands that are the fleet itself; all others are its clients. */
export function addRunCommands(program: Command, run: Run): void {
  for (const [name, description] of RUNS) {
    program
      .command(name)
      .description(description)
      .action(async () => run(name));
  }
}
