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
export type Run = (name: (typeof RUNS)[number][0] | 'init' | 'test' | 'backup' | 'restore', args?: readonly string[]) => Promise<void>;

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
  addBackupCommands(program, run);
  program
    .command('test')
    .description('run the tests of a project, as node --test does')
    .argument('[files...]', 'by default every *.test.ts')
    .action(async (files: string[]) => run('test', files));
}

type BackupOptions = Record<string, string | boolean>;

function addBackupCommands(program: Command, run: Run): void {
  const passphrase = ['--passphrase-file <file>', 'what seals the secrets in it, instead of MUSTER_SEAL_KEY'] as const;
  program
    .command('backup')
    .description('write what the fleet at REDIS_URL, or that of this machine, has into a file, while it runs')
    .requiredOption('--to <file>', 'a new file; one whose backup was broken off is gone on with')
    .option('--tenant <id>', 'only this tenant')
    .option(...passphrase)
    .action(async (options: BackupOptions) => run('backup', argumentsOf(options)));
  program
    .command('restore')
    .description('give a backup to the fleet at REDIS_URL, or to that of this machine; it may run, and have another SHARDS')
    .option('--from <file>', 'the backup; one whose restore was broken off is gone on with')
    .option('--tenant <id>', 'only this tenant of it')
    .option(...passphrase)
    .option('--replace', 'remove first what its tenants have there')
    .option('--wipe', 'remove what a restore that was broken off has written')
    .action(async (options: BackupOptions) => run('restore', argumentsOf(options)));
}

/** The options as they were given. */
function argumentsOf(options: BackupOptions): string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    const flag = `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return typeof value === 'string' ? [flag, value] : [flag];
  });
}
