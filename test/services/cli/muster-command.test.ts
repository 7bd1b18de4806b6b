import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { Command } from 'commander';
import { MusterError } from '#shared/errors/error-codes.ts';
import { createProgram } from '../../../services/cli/create-program.ts';
import { MusterCommand } from '../../../services/cli/muster-command.ts';
import { runMuster, startMuster } from './run-muster.ts';

const silent = { stdout: { write: () => true }, stderr: { write: () => true } };
const program = createProgram({
  contextOf: () => {
    throw new Error('No command runs');
  },
  version: '0.0.0',
  doctor: () => Promise.resolve(0),
  run: () => Promise.resolve(),
  io: silent,
});
const groups = allOf(program).filter(({ command }) => command.commands.length > 0);

function allOf(command: Command, path: readonly string[] = []): { command: Command; path: readonly string[] }[] {
  return [{ command, path }, ...command.commands.flatMap((inner) => allOf(inner, [...path, inner.name()]))];
}

describe('help', () => {
  it.each([[[]], [['--help']], [['help']], [['limits', '--help']], [['help', 'limits']]])('of %j is a result', async (args) => {
    expect(await runMuster(args)).toEqual({ code: 0, stdout: expect.stringMatching(/^Usage: muster/), stderr: '' });
  });
});

const refuse = (): Promise<void> => Promise.reject(new MusterError('backup.damaged', 'The backup is damaged'));

it('that runs here says the code of what it refuses, as one that asks the API does', async () => {
  expect(await runMuster(['restore', '--from', 'x'], { run: refuse })).toEqual({
    code: 1,
    stdout: '',
    stderr: 'muster: The backup is damaged [backup.damaged]\n',
  });
});

const wordsOf = (name: string): string[] => (name === '' ? [] : name.split(' '));

it.each(groups.map(({ path }) => path.join(' ')))(
  'muster %s says something about itself without a subcommand: its help, its list, or what it lacks',
  async (name) => {
    const { code, stdout, stderr } = await runMuster(wordsOf(name));
    expect(stderr).not.toContain('Usage:');
    // A list looks for the fleet, of which there is none here.
    const said = stdout === '' ? `${code} ${stderr}` : `${code} ${stdout}`;
    expect(said).toMatch(/^(0 Usage: muster|2 muster: There is no address|2 muster: A schedule needs a time)/);
  },
);

/** Their first word may be a time or a tenant. */
const TAKE_TEXT = new Set(['schedule', 'limits']);
const strict = groups
  .map(({ path, command }) => [path.join(' '), command] as const)
  .filter(([name, { registeredArguments }]) => registeredArguments.length === 0 && !TAKE_TEXT.has(name));

it.each(strict)('muster %s refuses a subcommand that it lacks by name', async (name) => {
  const { code, stdout, stderr } = await runMuster([...wordsOf(name), 'shwo']);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain("unknown command 'shwo'");
});

it('names the command whose help says more', async () => {
  expect((await runMuster(['hooks', 'shwo'])).stderr).toBe("error: unknown command 'shwo'\n(npx muster hooks --help explains it)\n");
  expect((await runMuster(['shwo'])).stderr).toContain('(npx muster --help lists the commands)');
  expect((await runMuster(['why'])).stderr).toBe("error: missing required argument 'id'\n(npx muster why --help explains it)\n");
});

it.each([[['hooks', 'deliveries', '--help']], [['help', 'send']]])('muster %j lists the options that each command takes', async (args) => {
  const { stdout } = await runMuster(args);
  const [, globals = ''] = stdout.split('Global Options:');
  expect(globals.match(/--\w+/g)).toEqual(['--url', '--key']);
});

/** A group with a list of its own, and a subcommand of it. */
async function parse(...args: string[]): Promise<unknown> {
  let found: unknown;
  const root = new MusterCommand('muster')
    .option('--url <address>')
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  const group = root.command('hooks').option('--limit <count>', '', '50').option('--json').option('--active');
  const inner = group.command('deliveries <id>').option('--limit <count>', '', '20').option('--json').option('--kind <kind>', '', 'all');
  inner.action((id: string, options: object) => void (found = { id, ...options }));
  await root.parseAsync(args, { from: 'user' });
  return found;
}

describe('the options of a subcommand', () => {
  it('are its own, wherever they stand', async () => {
    const given = { id: 'h1', limit: '3', json: true, kind: 'all' };
    expect(await parse('hooks', 'deliveries', 'h1', '--limit', '3', '--json')).toEqual(given);
    expect(await parse('hooks', '--limit', '3', 'deliveries', '--json', 'h1', '--url', 'x')).toEqual(given);
  });

  it('have its own defaults, not those of its group', async () => {
    expect(await parse('hooks', 'deliveries', 'h1')).toEqual({ id: 'h1', limit: '20', kind: 'all' });
  });

  it('are refused when only its group has them', async () => {
    await expect(parse('hooks', 'deliveries', 'h1', '--active')).rejects.toThrow("unknown option '--active'");
  });
});

describe('completion', () => {
  it('names the commands that begin so, and the options of one', async () => {
    const [commands, options] = await Promise.all([
      startMuster(['complete', '--', 'schedu']).ended,
      startMuster(['complete', '--', 'send', '--pri']).ended,
    ]);
    expect(commands.stdout).toMatch(/^schedule\t.*\nscheduler\t/);
    expect(options.stdout).toMatch(/^--priority\t/);
  });

  it('is a script that bash reads', async () => {
    const { stdout } = await startMuster(['completion', 'bash']).ended;
    expect(spawnSync('bash', ['-n'], { input: stdout, encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
    expect(stdout).toContain('complete -F');
  });
});
